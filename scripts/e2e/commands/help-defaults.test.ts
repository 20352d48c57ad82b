import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { ManagerOptions } from "../../../league-manager/manager-options.ts";
import { PlayerOptions } from "../../../player/options.ts";
import { ServiceOptions } from "../../../referee/options.ts";

const helpOf = async (...args: readonly string[]): Promise<string> =>
  (await promisify(execFile)(process.execPath, [...args, "--help"])).stdout.replaceAll(/\s+/g, " ");

const PACKAGE: { readonly scripts: Readonly<Record<string, string>> } = JSON.parse(
  readFileSync(new URL("../../../package.json", import.meta.url), "utf8"),
);

/** The options without defaults. */
const required = { manager: null, dataFolder: "" };

it("the help of the referee shows the defaults of its options", async () => {
  expect(ServiceOptions.parse(required)).toMatchObject({
    expireAfterMs: 86_400_000,
    maxConcurrentMatches: 64,
    registerTimeoutMs: 10_000,
    reportTimeoutMs: 10_000,
    limitLoopback: false,
    isAttended: false,
    name: null,
    host: null,
    bots: new Map(),
    botTimeouts: { join_ms: 30_000, move_ms: 30_000, game_over_ms: 5_000 },
  });
  const help = await helpOf("referee/main.ts");
  for (const option of [
    "(default: the first free one of 8001-8099)",
    "(default: 86400)",
    "(default: 64)",
    "attempt to register, milliseconds (default: 10000)",
    "report of a result, milliseconds (default: 10000)",
    'endpoint (default: "http://127.0.0.1:8000/mcp")',
    'and the logs (default: "data")',
  ])
    expect(help).toContain(option);
});

it("the help of the player shows the defaults of its options", async () => {
  const defaults = PlayerOptions.parse(required);
  expect(defaults).toMatchObject({ bot: "random", registerTimeoutMs: 10_000, leagueIds: null, limitLoopback: false });
  expect([defaults.ports[0], defaults.ports.at(-1)]).toEqual([8101, 8199]);
  const help = await helpOf("player/main.ts");
  for (const option of [
    'or manual (default: "random")',
    "(default: the first free one of 8101-8199)",
    "attempt to register, milliseconds (default: 10000)",
    'endpoint (default: "http://127.0.0.1:8000/mcp")',
    'and the token (default: "data")',
  ])
    expect(help).toContain(option);
});

it("the help of the manager shows the defaults of its config", async () => {
  expect(ManagerOptions.parse({ config: {} as never, dataFolder: "" })).toMatchObject({
    seed: null,
    startWhen: "count",
  });
  const help = await helpOf("league-manager/main.ts");
  for (const option of [
    "(default: the config's, 8000)",
    "(default: the config's, 127.0.0.1)",
    "(default: config/league.json of this program)",
    "random seed)",
  ])
    expect(help).toContain(option);
});

it.each(["manager", "referee", "player"])(
  "the help of npm run %s has one line of purpose and examples",
  async (service) => {
    const script = PACKAGE.scripts[service]?.split(" ").at(-1) ?? "";
    const { stdout } = await promisify(execFile)(process.execPath, [script, "--help"]);
    expect(stdout).toMatch(/^Usage: .*\n\nRuns .*[.]\n\nOptions:\n/);
    expect(stdout).toMatch(new RegExp(`\n\nExamples:\n( {2}npm run (${service}|host)\\b.*\n)+$`));
  },
);
