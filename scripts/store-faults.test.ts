import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, describe, expect, it, vi } from "vitest";
import { freePort } from "#shared/runtime/free-ports.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { writeSyntheticRun } from "./bench-run.ts";
import { cleanUp, league, newFolder, processesIn, runFolders, start, testLeague } from "./testing.ts";

/** Each test starts several processes, also on slow machines. */
vi.setConfig({ testTimeout: 120_000 });
afterEach(cleanUp);

/** A folder in which not even root can create a file. (Node never returns from creating a folder there.) */
const READ_ONLY = "/proc/self";
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
    db.exec("DROP TRIGGER results_no_update; UPDATE results SET result = '{'; UPDATE matches SET roles = '{'");
    db.close();
  },
};
/** The folder of a run that is over. Its database has no write-ahead log, and its file is damaged. */
function damagedRun(how: string): { folder: string; file: string } {
  const folder = newFolder();
  writeSyntheticRun(folder, 4);
  const file = join(folder, "league-manager.sqlite");
  openSqlite(file, "PRAGMA wal_checkpoint(TRUNCATE)").close();
  damages[how]?.(file);
  return { folder, file };
}

describe.each(Object.keys(damages))("a manager's database that is %s", (how) => {
  it("ends export with one line that names it", async () => {
    const { folder, file } = damagedRun(how);
    const { code, stdout, stderr } = await league(["export", folder, "--out", join(folder, "out")]);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^\S+ is damaged: .*\. Restore it from a copy, .*\.\n$/);
    expect(stderr).toContain(file);
  });

  it("ends the manager with one line that names it", async () => {
    const { folder, file } = damagedRun(how);
    const port = String(await freePort());
    const config = ["--config", join(folder, "config.json"), "--data", folder, "--port", port];
    const { code, stderr } = await start("league-manager/main.ts", config).ended;
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^league-manager: \S+ is damaged: .*\n$/)]);
    expect(stderr).toContain(file);
  });
});

it("a referee's database that is damaged ends the referee with one line that names it", async () => {
  const [folder, port] = [newFolder(), await freePort()];
  const file = join(folder, `referee-${port}.sqlite`);
  damages["no database"]?.(file);
  const { code, stderr } = await start("referee/main.ts", ["--alone", "--port", `${port}`, "--data", folder]).ended;
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^host-\d+: \S+ is damaged: .*\n$/)]);
  expect(stderr).toContain(file);
});

it("a config beside a run that cannot be read ends export with one line", async () => {
  const folder = newFolder();
  writeSyntheticRun(folder, 2);
  writeFileSync(join(folder, "config.json"), "{");
  const { code, stderr } = await league(["export", folder]);
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^\S+config\.json cannot be read: .*\n$/)]);
});

it("a match of an export that is no JSON, and one that is a folder, are faults of verify", async () => {
  const folder = newFolder();
  writeSyntheticRun(folder, 3);
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

describe("a data folder that cannot be written", () => {
  it("ends serve with one line that names it", async () => {
    const test = await testLeague(["random", "cycle"], RPS, { config: { data: READ_ONLY } });
    const { code, stdout, stderr } = await league(["serve", test.file]);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^cannot open \/proc\/self\/serve\.json: .*\. Make sure that .* can be written\.\n$/);
  });

  it.each<[string, (file: string, data: string) => readonly string[]]>([
    ["serve", (file) => ["serve", file]],
    ["run", (file) => ["run", file]],
    ["join", (_, data) => ["join", "random", "--data", data]],
    ["mcp", (_, data) => ["mcp", "--data", data]],
  ])("ends %s with one line that names it, when a part of its path is a file", async (_, args) => {
    const data = join(newFolder(), "file", "data");
    writeFileSync(join(data, ".."), "");
    const test = await testLeague(["random", "cycle"], RPS, { config: { data } });
    const { code, stdout, stderr } = await league(args(test.file, data));
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^(\S+: )?cannot use \/\S+: a part of the path is a file\n$/);
  });
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
