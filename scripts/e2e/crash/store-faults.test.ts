import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, describe, expect, it } from "vitest";
import { freePort } from "#shared/runtime/process/free-ports.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { nameCommitment } from "../../../league-manager/agents/registered-agent.ts";
import { startTestHost } from "../../../referee/rest/testing/host.ts";
import { forgeRun } from "../../archive/testing/forgery.ts";
import { writeSyntheticRun } from "../../bench/synthetic-run.ts";
import {
  cleanUp,
  type Ended,
  league,
  newFolder,
  processesIn,
  type Running,
  STACK_LINE,
  start,
} from "../../testing/processes.ts";
import { runFolders, type TestLeague, testLeague } from "../../testing/test-league.ts";

afterEach(cleanUp);

const RPS = [{ league_id: "rps", game: "rps.v1", options: { best_of: 99 } }];
const SLOW_BOT = `import { setTimeout } from "node:timers/promises";
export default async ({ legal, random }) => {
  await setTimeout(100);
  return random.pick(legal);
};
`;

/** Ways to damage a database file. SQLite detects some when it opens the file, others when it reads a page, and the last one never. */
const damages: Readonly<Record<string, (file: string) => void>> = {
  "not a database": (file) => writeFileSync(file, "no database ".repeat(500)),
  "cut in half": (file) => writeFileSync(file, readFileSync(file).subarray(0, readFileSync(file).length / 2)),
  "overwritten behind its first page": (file) => {
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.fill(0x5a, 4096));
  },
  "intact except for rows that are not JSON": (file) => {
    const db = new DatabaseSync(file);
    db.exec("DROP TRIGGER log_no_update; DELETE FROM snapshots; UPDATE log SET body = '{'");
    db.close();
  },
};
/** Creates the folder of a completed run with a damaged database file and without a write-ahead log. */
async function damagedRun(damage: string): Promise<{ folder: string; file: string }> {
  const folder = newFolder();
  await writeSyntheticRun(folder, 4);
  const file = join(folder, "league-manager.sqlite");
  openSqlite(file, "PRAGMA wal_checkpoint(TRUNCATE)").close();
  damages[damage]?.(file);
  return { folder, file };
}

describe.each(Object.keys(damages))("a manager's database that is %s", (damage) => {
  it("ends export with one line that names the file", async () => {
    const { folder, file } = await damagedRun(damage);
    const { code, stdout, stderr } = await league(["export", folder, "--out", join(folder, "out")]);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^\S+ is damaged: .*\. Restore it from a copy, .*\.\n$/);
    expect(stderr).toContain(file);
  });

  it("ends the manager with one line that names the file", async () => {
    const { folder, file } = await damagedRun(damage);
    const port = String(await freePort());
    const config = ["--config", join(folder, "config.json"), "--data", folder, "--port", port];
    const { code, stderr } = await start("league-manager/main.ts", config).ended;
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^league-manager: \S+ is damaged: .*\n$/)]);
    expect(stderr).toContain(file);
  });
});

/** Creates the data folder of a referee with a session, a damaged database file and no write-ahead log. */
async function damagedReferee(damage: string): Promise<{ folder: string; file: string; port: string }> {
  const folder = newFolder();
  const host = await startTestHost({ dataFolder: folder });
  const [first, second] = [await host.agent(), await host.agent()];
  await host.session("tic_tac_toe.v1", { x: first, o: second });
  await host.stop();
  const file = join(folder, `referee-${host.port}.sqlite`);
  openSqlite(file, "PRAGMA wal_checkpoint(TRUNCATE)").close();
  damages[damage]?.(file);
  return { folder, file, port: String(host.port) };
}

// The referee reads a row when its session is requested, not when it starts.
it.each(["not a database", "cut in half", "overwritten behind its first page"])(
  "a referee's database that is %s ends the referee with one line that names the file",
  async (damage) => {
    const { folder, file, port } = await damagedReferee(damage);
    const { code, stderr } = await start("referee/main.ts", ["--alone", "--port", port, "--data", folder]).ended;
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^host-\d+: \S+ is damaged: .*\n$/)]);
    expect(stderr).toContain(file);
  },
);

it("verify reports a match file that is not JSON, and a match file that is a folder", async () => {
  const folder = newFolder();
  await writeSyntheticRun(folder, 3);
  const out = join(folder, "out");
  await league(["export", folder, "--out", out]);
  const matches = join(out, "matches", "synthetic");
  writeFileSync(join(matches, "R1M1.json"), "{");
  rmSync(join(matches, "R2M1.json"));
  mkdirSync(join(matches, "R2M1.json"));
  const { code, stderr } = await league(["verify", out]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^matches\/synthetic\/R1M1\.json: /m);
  expect(stderr).toMatch(/^matches\/synthetic\/R2M1\.json: is missing$/m);
  expect(stderr).not.toMatch(/^\s+at /m);
});

it("verify prints no control characters; its JSON document keeps them", async () => {
  const folder = newFolder();
  await writeSyntheticRun(folder, 3);
  const out = join(folder, "out");
  await league(["export", folder, "--out", out]);
  const name = "zz\u001b[2J\u001b[1;1Hverified: 99\nverified\u202e";
  writeFileSync(join(out, name), "x");
  const manifest = JSON.parse(readFileSync(join(out, "manifest.json"), "utf8"));
  manifest.files["key\u009b2J\nverified"] = "";
  writeFileSync(join(out, "manifest.json"), JSON.stringify(manifest));
  writeFileSync(join(out, "matches", "synthetic", "R1M1.json"), "\u001b[2J");
  const { code, stdout, stderr } = await league(["verify", out]);
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr.replaceAll("\n", "")).toMatch(/^[ -~]+$/);
  expect(stderr).toContain("\nzz [2J [1;1Hverified: 99 verified : is not listed in manifest.json\n");
  expect(stderr).not.toMatch(/^verified/m);
  const json = JSON.parse((await league(["verify", out, "--json"])).stdout);
  expect(json.faults).toContainEqual({ file: name, message: "is not listed in manifest.json" });
});

it("verify rejects names with control characters and prints them without these characters", async () => {
  const folder = newFolder();
  await writeSyntheticRun(folder, 3);
  const out = join(folder, "out");
  await league(["export", folder, "--out", out]);
  forgeRun(out, ({ league, events }) => {
    const name = "A\u001b[2J\nB";
    for (const player of league.players) player.display_name = name;
    const entered = events.filter(({ type }) => type === "player_entered");
    for (const event of entered) event.name_commitment = nameCommitment({ name, salt: league.players[0].salt });
  });
  const { code, stdout, stderr } = await league(["verify", out]);
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toContain("is not a name that a player can register with");
  expect(stderr.replaceAll("\n", "")).toMatch(/^[ -~]+$/);
});

describe("a folder in the place of a secret file", () => {
  const player = ["--name", "Zz", "--port", "0"];
  it.each<[string, string, string, readonly string[]]>([
    ["a player's secret", "player/main.ts", "secret", ["--no-manager", "--secret-file", "FOLDER/secret", ...player]],
    ["a player's token", "player/main.ts", "tokens/player-Zz", player],
    ["a referee's key", "referee/main.ts", "tokens/rounds-PORT", ["--alone", "--port", "PORT"]],
    ["the operator's token", "league-manager/main.ts", "operator-token", ["--port", "PORT"]],
  ])("ends the program with one line that names the path: %s", async (_, program, secret, args) => {
    const [folder, port] = [newFolder(), String(await freePort())];
    const withPaths = (text: string): string => text.replace("PORT", port).replace("FOLDER", folder);
    mkdirSync(join(folder, withPaths(secret)), { recursive: true });
    const { code, stderr } = await start(program, [...args.map(withPaths), "--data", folder]).ended;
    expect(stderr).toMatch(/(^|\n)\S+: cannot use \S+: it is a folder\n$/);
    expect(code).toBe(1);
    expect(stderr).toContain(join(folder, withPaths(secret)));
  });
});

it("a token file with a short operator token ends the manager with one line that names the file", async () => {
  const folder = newFolder();
  const file = join(folder, "operator-token");
  writeFileSync(file, "short\n");
  const port = String(await freePort());
  const { code, stderr } = await start("league-manager/main.ts", ["--port", port, "--data", folder]).ended;
  expect([code, stderr]).toEqual([3, expect.stringMatching(/^league-manager: .* at least 16 characters; .*\n$/)]);
  expect(stderr).toContain(file);
});

describe("a database file that is deleted while the program runs", () => {
  const LOST = /^host-\d+: \S+\.sqlite was deleted or replaced while it was in use\. .*\n$/m;

  it.each<[string, (file: string) => void]>([
    ["with its folder", (file) => rmSync(join(file, ".."), { recursive: true })],
    ["alone", (file) => rmSync(file)],
    [
      "and replaced by a copy",
      (file) => {
        cpSync(file, `${file}.copy`);
        rmSync(file);
        cpSync(`${file}.copy`, file);
      },
    ],
  ])("ends a session host with exit code 1: %s", async (_, remove) => {
    const port = await freePort();
    const data = join(newFolder(), "data");
    const host = start("referee/main.ts", ["--alone", "--port", String(port), "--data", data]);
    await host.line(/session host at/);
    remove(join(data, `referee-${port}.sqlite`));
    const { code, stderr } = await host.ended;
    expect([code, stderr]).toEqual([1, expect.stringMatching(LOST)]);
  });

  /** Expects that the program has ended with exit code 1 and one line that names the file. */
  const expectLost = ({ code, stderr }: Ended, file: string): void => {
    expect(code).toBe(1);
    const lines = stderr.split("\n").filter((line) => line.includes("was deleted or replaced while it was in use"));
    expect(lines).toEqual([expect.stringContaining(file)]);
    expect(stderr).not.toMatch(STACK_LINE);
    expect(stderr).not.toContain("it is started again");
  };

  it.each<[string, string, RegExp, (test: TestLeague, data: string) => Running]>([
    [
      "a manager",
      "league-manager.sqlite",
      /league manager at/,
      ({ file }, data) => start("league-manager/main.ts", ["--config", file, "--data", data]),
    ],
    [
      "serve, whose manager uses the file,",
      "league-manager.sqlite",
      /takes registrations at/,
      ({ file }) => start("scripts/league.ts", ["serve", file]),
    ],
    [
      "serve, whose referee uses the file,",
      "referee",
      /REF01 registered/,
      ({ file }) => start("scripts/league.ts", ["serve", file]),
    ],
    [
      "mcp",
      "mcp-1.sqlite",
      /serving \S+ on stdio/,
      (_, data) => start("scripts/league.ts", ["mcp", "--data", data], {}, "pipe"),
    ],
  ])("ends %s with exit code 1 and one line", async (_, name, readyLine, startProgram) => {
    const test = await testLeague([], RPS);
    const data = join(test.folder, "data");
    const running = startProgram(test, data);
    await running.line(readyLine);
    const file = join(data, name === "referee" ? `referee-${test.portAt(1)}.sqlite` : name);
    rmSync(file);
    const ended = await running.ended;
    expectLost(ended, file);
    expect(ended.stdout).toBe("");
    expect(processesIn(test.folder)).toEqual([]);
  });

  it.each(["league-manager", "referee-"])("ends a run with exit code 1: %s", async (name) => {
    const test = await testLeague(["./slow.ts", "./slow.ts"], RPS, { files: { "slow.ts": SLOW_BOT } });
    const run = start("scripts/league.ts", ["run", test.file]);
    await run.line(/^rps: /);
    const [folder = ""] = runFolders(test);
    const file = `${name}${name === "referee-" ? test.portAt(1) : ""}.sqlite`;
    rmSync(join(folder, file));
    const { code, stderr } = await run.ended;
    expect([code, stderr]).toEqual([1, expect.stringMatching(/\.sqlite was deleted or replaced while it was in use/)]);
    expect(stderr).not.toMatch(/it is started again|^\s+at /m);
    expect(processesIn(test.folder)).toEqual([]);
  });
});
