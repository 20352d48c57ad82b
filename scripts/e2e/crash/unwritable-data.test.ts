import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, describe, expect, it } from "vitest";
import { writeSyntheticRun } from "../../bench/synthetic-run.ts";
import { cleanUp, type Ended, league, newFolder, start } from "../../testing/processes.ts";
import { RPS, testLeague } from "../../testing/test-league.ts";

afterEach(cleanUp);

describe("a data folder whose path contains a file", () => {
  it.each<[string, (file: string, data: string) => readonly string[]]>([
    ["serve", (file) => ["serve", file]],
    ["run", (file) => ["run", file]],
    ["join", (_, data) => ["join", "random", "--data", data]],
    ["mcp", (_, data) => ["mcp", "--data", data]],
  ])("ends %s with one line that names the path", async (_, args) => {
    const data = join(newFolder(), "file", "data");
    writeFileSync(join(data, ".."), "");
    const test = await testLeague(["random", "cycle"], RPS, { config: { data } });
    const { code, stdout, stderr } = await league(args(test.file, data));
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^(\S+: )?cannot use \/\S+: a part of the path is a file\n$/);
  });
});

/** A shell script that mounts the folder `$0` read-only and runs a command. File permissions do not prevent root from writing. */
const READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"';
/** The arguments of `unshare` that run a command with a read-only folder. */
const readOnly = (folder: string, command: readonly string[]): string[] => [
  "--mount",
  "sh",
  "-c",
  READ_ONLY,
  folder,
  ...command,
];
const canMount = spawnSync("unshare", readOnly(tmpdir(), ["true"])).status === 0;

describe.skipIf(!canMount)("a data folder on a read-only file system (needs root and unshare)", () => {
  const startOn = (data: string, script: string, args: readonly string[], environment = {}): Promise<Ended> =>
    start(script, args, environment, "ignore", {
      spawn: (command, options = {}) => spawn("unshare", readOnly(data, command), options),
    }).ended;
  const expectOneLine = ({ code, stdout, stderr }: Ended, data: string): void => {
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^(\S+: )?cannot (create|open|use) \S+: .*(read-only|can be written).*\n$/);
    expect(stderr).toContain(data);
  };

  const LEAGUE = "scripts/league.ts";
  const llm = ["--llm", "http://127.0.0.1:9/v1", "--model", "none", "--people", "none"];
  const commands: readonly (readonly [string, string, (file: string, data: string) => readonly string[]])[] = [
    ["run", LEAGUE, (file) => ["run", file]],
    ["serve", LEAGUE, (file) => ["serve", file]],
    ["mcp", LEAGUE, (_, data) => ["mcp", "--data", data]],
    ["join", LEAGUE, (_, data) => ["join", "random", "--data", data]],
    ["codenames", LEAGUE, (_, data) => ["codenames", ...llm, "--data", data]],
    ["manager", "league-manager/main.ts", (file, data) => ["--config", file, "--data", data]],
    ["host", "referee/main.ts", (_, data) => ["--alone", "--data", data]],
    ["referee", "referee/main.ts", (_, data) => ["--data", data]],
    ["player", "player/main.ts", (_, data) => ["--data", data]],
  ];
  it.each(commands)("ends %s with one line that names the folder", async (_name, script, args) => {
    const test = await testLeague(["random", "cycle"], RPS);
    const data = join(test.folder, "data");
    expectOneLine(await startOn(data, script, args(test.file, data)), data);
  });

  // The other agents open their log first, as mcp does.
  const usedFolderCommands = commands.filter(([name]) => ["run", "serve", "mcp", "codenames"].includes(name));
  it.each(usedFolderCommands)(
    "ends %s with one line that names a file in the folder, if it has been used before",
    async (...row) => {
      const [name, script, args] = row;
      const test = await testLeague(["random", "cycle"], RPS);
      const data = join(test.folder, "data");
      for (const folder of ["logs", "runs"]) mkdirSync(join(data, folder));
      for (const file of [`logs/${name}.log`, "serve.json"]) writeFileSync(join(data, file), "");
      new DatabaseSync(join(data, "serve.json.lock")).close();
      expectOneLine(await startOn(data, script, args(test.file, data)), data);
    },
  );

  it("ends play with one line that names the folder, if it is the folder for temporary files", async () => {
    const data = newFolder();
    expectOneLine(await startOn(data, LEAGUE, ["play", "random", "cycle", "--game", "rps"], { TMPDIR: data }), data);
  });

  it("ends export with one line that names the folder, both as the folder of the run and as the output folder", async () => {
    const run = newFolder();
    await writeSyntheticRun(run, 2);
    const out = newFolder();
    expectOneLine(await startOn(run, LEAGUE, ["export", run, "--out", out]), run);
    expectOneLine(await startOn(out, LEAGUE, ["export", run, "--out", join(out, "out")]), out);
  });
});
