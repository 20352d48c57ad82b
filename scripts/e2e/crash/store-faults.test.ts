import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, describe, expect, it, vi } from "vitest";
import { freePort } from "#shared/runtime/process/free-ports.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { nameCommitment } from "../../../league-manager/agents/decide.ts";
import { startTestHost } from "../../../referee/rest/testing/host.ts";
import { forgeRun } from "../../archive/testing/forgery.ts";
import { writeSyntheticRun } from "../../bench/run.ts";
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

/** Each test starts several processes, also on slow machines. */
vi.setConfig({ testTimeout: 120_000 });
afterEach(cleanUp);

const RPS = [{ league_id: "rps", game: "rps.v1", options: { best_of: 99 } }];
const SLOW_BOT = `import { setTimeout } from "node:timers/promises";
export default async ({ legal, random }) => {
  await setTimeout(100);
  return random.pick(legal);
};
`;

/** Damages of a database file: SQLite finds some when it opens the file, others when it reads a page, and the last one never. */
const damages: Readonly<Record<string, (file: string) => void>> = {
  "no database": (file) => writeFileSync(file, "no database ".repeat(500)),
  "cut in half": (file) => writeFileSync(file, readFileSync(file).subarray(0, readFileSync(file).length / 2)),
  "overwritten behind its first page": (file) => {
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.fill(0x5a, 4096));
  },
  "with a row that is no JSON": (file) => {
    const db = new DatabaseSync(file);
    db.exec("DROP TRIGGER log_no_update; DELETE FROM snapshots; UPDATE log SET body = '{'");
    db.close();
  },
};
/** The folder of a run that is over. Its database has no write-ahead log, and its file is damaged. */
async function damagedRun(how: string): Promise<{ folder: string; file: string }> {
  const folder = newFolder();
  await writeSyntheticRun(folder, 4);
  const file = join(folder, "league-manager.sqlite");
  openSqlite(file, "PRAGMA wal_checkpoint(TRUNCATE)").close();
  damages[how]?.(file);
  return { folder, file };
}

describe.each(Object.keys(damages))("a manager's database that is %s", (how) => {
  it("ends export with one line that names it", async () => {
    const { folder, file } = await damagedRun(how);
    const { code, stdout, stderr } = await league(["export", folder, "--out", join(folder, "out")]);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^\S+ is damaged: .*\. Restore it from a copy, .*\.\n$/);
    expect(stderr).toContain(file);
  });

  it("ends the manager with one line that names it", async () => {
    const { folder, file } = await damagedRun(how);
    const port = String(await freePort());
    const config = ["--config", join(folder, "config.json"), "--data", folder, "--port", port];
    const { code, stderr } = await start("league-manager/main.ts", config).ended;
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^league-manager: \S+ is damaged: .*\n$/)]);
    expect(stderr).toContain(file);
  });
});

/** A referee's data folder with a session, whose database file has this damage and no write-ahead log. */
async function damagedReferee(how: string): Promise<{ folder: string; file: string; port: string }> {
  const folder = newFolder();
  const host = await startTestHost({ dataFolder: folder });
  const [first, second] = [await host.agent(), await host.agent()];
  await host.session("tic_tac_toe.v1", { x: first, o: second });
  await host.stop();
  const file = join(folder, `referee-${host.port}.sqlite`);
  openSqlite(file, "PRAGMA wal_checkpoint(TRUNCATE)").close();
  damages[how]?.(file);
  return { folder, file, port: String(host.port) };
}

// The referee reads a row when its session is requested, not when it starts.
it.each(["no database", "cut in half", "overwritten behind its first page"])(
  "a referee's database that is %s ends the referee with one line that names it",
  async (how) => {
    const { folder, file, port } = await damagedReferee(how);
    const { code, stderr } = await start("referee/main.ts", ["--alone", "--port", port, "--data", folder]).ended;
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^host-\d+: \S+ is damaged: .*\n$/)]);
    expect(stderr).toContain(file);
  },
);

it("verify reports a match file that is not JSON, and one that is a folder", async () => {
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

it("an export whose names contain control characters is not sound, and the names are printed without them", async () => {
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

describe("a folder in the place of a secret", () => {
  const player = ["--name", "Zz", "--port", "0"];
  it.each<[string, string, string, readonly string[]]>([
    ["a player's secret", "player/main.ts", "secret", ["--no-manager", "--secret-file", "FOLDER/secret", ...player]],
    ["a player's token", "player/main.ts", "tokens/player-Zz", player],
    ["a referee's key", "referee/main.ts", "tokens/rounds-PORT", ["--alone", "--port", "PORT"]],
    ["the operator's token", "league-manager/main.ts", "operator-token", ["--port", "PORT"]],
  ])("ends the program with one line that names it: %s", async (_, program, secret, args) => {
    const [folder, port] = [newFolder(), String(await freePort())];
    const placed = (text: string): string => text.replace("PORT", port).replace("FOLDER", folder);
    mkdirSync(join(folder, placed(secret)), { recursive: true });
    const { code, stderr } = await start(program, [...args.map(placed), "--data", folder]).ended;
    expect(stderr).toMatch(/(^|\n)\S+: cannot use \S+: it is a folder\n$/);
    expect(code).toBe(1);
    expect(stderr).toContain(join(folder, placed(secret)));
  });
});

it("an operator token that is shorter than the config allows ends the manager with one line that names its file", async () => {
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
    ["with all that is beside it", (file) => rmSync(join(file, ".."), { recursive: true })],
    ["by its name", (file) => rmSync(file)],
    [
      "and replaced by a copy",
      (file) => {
        cpSync(file, `${file}.copy`);
        rmSync(file);
        cpSync(`${file}.copy`, file);
      },
    ],
  ])("ends a session host with exit code 1: %s", async (_, lose) => {
    const port = await freePort();
    const data = join(newFolder(), "data");
    const host = start("referee/main.ts", ["--alone", "--port", String(port), "--data", data]);
    await host.line(/session host at/);
    lose(join(data, `referee-${port}.sqlite`));
    const { code, stderr } = await host.ended;
    expect([code, stderr]).toEqual([1, expect.stringMatching(LOST)]);
  });

  /** The program ends by itself, and one line names the file. */
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
      "serve, whose manager has it,",
      "league-manager.sqlite",
      /takes registrations at/,
      ({ file }) => start("scripts/league.ts", ["serve", file]),
    ],
    [
      "serve, whose referee has it,",
      "referee",
      /takes registrations at/,
      ({ file }) => start("scripts/league.ts", ["serve", file]),
    ],
    [
      "mcp",
      "mcp-1.sqlite",
      /serving \S+ on stdio/,
      (_, data) => start("scripts/league.ts", ["mcp", "--data", data], {}, "pipe"),
    ],
  ])("ends %s with exit code 1 and one line", async (_, name, isUp, begin) => {
    const test = await testLeague([], RPS);
    const data = join(test.folder, "data");
    const running = begin(test, data);
    await running.line(isUp);
    const file = join(data, name === "referee" ? `referee-${test.port + 1}.sqlite` : name);
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
    const file = `${name}${name === "referee-" ? test.port + 1 : ""}.sqlite`;
    rmSync(join(folder, file));
    const { code, stderr } = await run.ended;
    expect([code, stderr]).toEqual([1, expect.stringMatching(/\.sqlite was deleted or replaced while it was in use/)]);
    expect(stderr).not.toMatch(/it is started again|^\s+at /m);
    expect(processesIn(test.folder)).toEqual([]);
  });
});
