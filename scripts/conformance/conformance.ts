import { type ChildProcess, execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { z } from "zod";
import { withUsageExit } from "#shared/runtime/cli/options.ts";
import { EXIT } from "#shared/runtime/process/exit.ts";
import { freePorts } from "#shared/runtime/process/free-ports.ts";
import { launch, ROOT, temporaryFolder } from "../bench/process.ts";

/** `npm run conformance`: the official MCP conformance suite against each service, with the fixtures that it wants to find. */
withUsageExit(new Command("conformance"))
  .description("Runs the official MCP conformance suite against the league manager, a referee and a player.")
  .parse();

const SUITE = join(ROOT, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
/** Adds the fixtures to the service that it is loaded before. */
const PRELOAD = new URL("preload.ts", import.meta.url).href;
const REVISIONS = ["2025-11-25", "2026-07-28"] as const;
const SUITE_LIMIT_MS = 300_000;
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
const SERVICES = [
  { name: "league manager", script: "league-manager/main.ts", args: [] },
  { name: "referee", script: "referee/main.ts", args: ["--alone"] },
  { name: "player", script: "player/main.ts", args: ["--bot", "manual", "--no-manager"] },
] as const;

interface Scenario {
  readonly name: string;
  readonly isPassed: boolean;
  /** Whether the revision demands it; the others are extensions and scenarios that the suite has not settled. */
  readonly isRequired: boolean;
  /** What failed, and what only should have been otherwise. */
  readonly remarks: readonly string[];
}

const Checks = z.array(z.object({ id: z.string(), status: z.string(), errorMessage: z.string().optional() }));

const suites = new Set<ChildProcess>();
process.on("exit", () => {
  for (const suite of suites) suite.kill("SIGKILL");
});

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Runs all scenarios of a revision against one endpoint; throws when the suite itself breaks down. */
async function runSuite(url: string, revision: string): Promise<readonly Scenario[]> {
  const folder = temporaryFolder();
  const args = [SUITE, "server", "--url", `${url}/mcp`, "--requirements", revision, "-o", folder];
  const limits = { timeout: SUITE_LIMIT_MS, killSignal: "SIGKILL", maxBuffer: MAX_OUTPUT_BYTES } as const;
  const { code, output, errors } = await new Promise<{ code: unknown; output: string; errors: string }>((resolve) => {
    const suite = execFile(process.execPath, args, limits, (error, output, errors) => {
      suites.delete(suite);
      resolve({ code: error ? error.code : 0, output, errors });
    });
    suites.add(suite);
  });
  const scenarios = scenariosOf(output, folder);
  const isPassed = scenarios.every((one) => one.isPassed || !one.isRequired);
  if (!scenarios.some((one) => one.isRequired) || isPassed !== (code === 0)) {
    throw new Error(`the suite ended with code ${code}: ${(errors || output).slice(-2_000)}`);
  }
  return scenarios;
}

/** Reads the suite's summary, `✓ ping: 2 passed, 0 failed`, its list `✓ tasks-lifecycle (extension)` and its result files. */
function scenariosOf(output: string, folder: string): readonly Scenario[] {
  const unscored = new Set([...output.matchAll(/^ {2}[✓✗] (\S+) \(.+\)$/gm)].map(([, name]) => name));
  const remarks = new Map(readdirSync(folder).map((name) => [scenarioOf(name), remarksIn(join(folder, name))]));
  return [...output.matchAll(/^([✓✗]) (\S+): \d+ passed, \d+ failed$/gm)].map(([, mark, name = ""]) => ({
    name,
    isPassed: mark === "✓",
    isRequired: !unscored.has(name),
    remarks: remarks.get(name) ?? ["no results"],
  }));
}

/** `server-ping-2026-11-21T14-16-49-576Z` holds the results of `ping`. */
const scenarioOf = (folder: string): string => folder.replace(/^server-/, "").replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, "");

function remarksIn(folder: string): readonly string[] {
  return Checks.parse(JSON.parse(readFileSync(join(folder, "checks.json"), "utf8")))
    .filter(({ status }) => status === "FAILURE" || status === "WARNING")
    .map(({ id, status, errorMessage }) => `${status.toLowerCase()} ${id}: ${errorMessage ?? ""}`);
}

/** Prints one line for the service and revision, and beneath it what went wrong; returns the numbers of required scenarios. */
function show(service: string, revision: string, scenarios: readonly Scenario[]): { passed: number; failed: number } {
  const required = scenarios.filter((one) => one.isRequired);
  const passed = required.filter((one) => one.isPassed).length;
  say(`${service}, ${revision}: ${passed} of ${required.length} scenarios passed`);
  for (const { name, isPassed, remarks } of required) {
    if (isPassed && remarks.length === 0) continue;
    say(`  ${isPassed ? "passed" : "FAILED"} ${name}`);
    for (const remark of remarks) say(`    ${remark}`);
  }
  const open = scenarios.filter((one) => !one.isRequired && !one.isPassed).map(({ name }) => name);
  if (open.length > 0) say(`  not required, not passed: ${open.join(", ")}`);
  return { passed, failed: required.length - passed };
}

const begun = performance.now();
const total = { passed: 0, failed: 0 };
const ports = await freePorts(SERVICES.length);
for (const [index, { name, script, args }] of SERVICES.entries()) {
  try {
    const ownArgs = [...args, "--port", String(ports[index]), "--data", temporaryFolder()];
    const service = await launch(script, ownArgs, { nodeArgs: ["--import", PRELOAD] });
    for (const revision of REVISIONS) {
      const { passed, failed } = show(name, revision, await runSuite(service.urls[0] ?? "", revision));
      total.passed += passed;
      total.failed += failed;
    }
    await service.stop();
  } catch (thrown) {
    say(`${name}: ${thrown instanceof Error ? thrown.message : thrown}`);
    total.failed++;
  }
}
say(`${((performance.now() - begun) / 1000).toFixed(1)} s`);
say(`${total.passed} passed, ${total.failed} failed`);
process.exit(total.failed === 0 ? EXIT.ok : EXIT.failed);
