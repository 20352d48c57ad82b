import { type ChildProcess, execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { z } from "zod";
import { withUsageExit } from "#shared/runtime/command-options.ts";
import { EXIT } from "#shared/runtime/process/exit.ts";
import { freePorts } from "#shared/runtime/process/free-ports.ts";
import { launch, ROOT, temporaryFolder } from "../bench/process.ts";

/** `npm run conformance`: runs the official MCP conformance suite against each service, with the fixtures that the suite requires. */
withUsageExit(new Command("conformance"))
  .description("Runs the official MCP conformance suite against the league manager, a referee and a player.")
  .parse();

const SUITE = join(ROOT, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
/** The module that adds the fixtures to a service. Node.js loads it before the service. */
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
  /** Whether the revision requires the scenario. The other scenarios are extensions and drafts. */
  readonly isRequired: boolean;
  /** The failures and warnings. */
  readonly remarks: readonly string[];
}

const Checks = z.array(z.object({ id: z.string(), status: z.string(), errorMessage: z.string().optional() }));

const suites = new Set<ChildProcess>();
process.on("exit", () => {
  for (const suite of suites) suite.kill("SIGKILL");
});

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Runs all scenarios of a revision against one endpoint. Throws if the suite fails to run. */
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
  const isPassed = scenarios.every((scenario) => scenario.isPassed || !scenario.isRequired);
  if (!scenarios.some((scenario) => scenario.isRequired) || isPassed !== (code === 0)) {
    throw new Error(`the suite ended with code ${code}: ${(errors || output).slice(-2_000)}`);
  }
  return scenarios;
}

/** Parses the output of the suite, e.g. `✓ ping: 2 passed, 0 failed` and `✓ tasks-lifecycle (extension)`, and reads its result files. */
function scenariosOf(output: string, folder: string): readonly Scenario[] {
  const optional = new Set([...output.matchAll(/^ {2}[✓✗] (\S+) \(.+\)$/gm)].map(([, name]) => name));
  const remarks = new Map(readdirSync(folder).map((name) => [scenarioOf(name), remarksIn(join(folder, name))]));
  return [...output.matchAll(/^([✓✗]) (\S+): \d+ passed, \d+ failed$/gm)].map(([, mark, name = ""]) => ({
    name,
    isPassed: mark === "✓",
    isRequired: !optional.has(name),
    remarks: remarks.get(name) ?? ["no results"],
  }));
}

/** Returns the scenario of a folder with results: `ping` for `server-ping-2026-11-21T14-16-49-576Z`. */
const scenarioOf = (folder: string): string => folder.replace(/^server-/, "").replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, "");

function remarksIn(folder: string): readonly string[] {
  return Checks.parse(JSON.parse(readFileSync(join(folder, "checks.json"), "utf8")))
    .filter(({ status }) => status === "FAILURE" || status === "WARNING")
    .map(({ id, status, errorMessage }) => `${status.toLowerCase()} ${id}: ${errorMessage ?? ""}`);
}

/** Prints a line for a service and a revision, and its failures and warnings. Returns the numbers of required scenarios. */
function printResults(
  service: string,
  revision: string,
  scenarios: readonly Scenario[],
): { passed: number; failed: number } {
  const required = scenarios.filter((scenario) => scenario.isRequired);
  const passed = required.filter((scenario) => scenario.isPassed).length;
  print(`${service}, ${revision}: ${passed} of ${required.length} scenarios passed`);
  for (const { name, isPassed, remarks } of required) {
    if (isPassed && remarks.length === 0) continue;
    print(`  ${isPassed ? "passed" : "FAILED"} ${name}`);
    for (const remark of remarks) print(`    ${remark}`);
  }
  const notPassed = scenarios.filter(({ isRequired, isPassed }) => !isRequired && !isPassed).map(({ name }) => name);
  if (notPassed.length > 0) print(`  not required, not passed: ${notPassed.join(", ")}`);
  return { passed, failed: required.length - passed };
}

const startedAt = performance.now();
const total = { passed: 0, failed: 0 };
const ports = await freePorts(SERVICES.length);
for (const [index, { name, script, args }] of SERVICES.entries()) {
  try {
    const serviceArgs = [...args, "--port", String(ports[index]), "--data", temporaryFolder()];
    const service = await launch(script, serviceArgs, { nodeArgs: ["--import", PRELOAD] });
    for (const revision of REVISIONS) {
      const { passed, failed } = printResults(name, revision, await runSuite(service.urls[0] ?? "", revision));
      total.passed += passed;
      total.failed += failed;
    }
    await service.stop();
  } catch (thrown) {
    print(`${name}: ${thrown instanceof Error ? thrown.message : thrown}`);
    total.failed++;
  }
}
print(`${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
print(`${total.passed} passed, ${total.failed} failed`);
process.exit(total.failed === 0 ? EXIT.ok : EXIT.failed);
