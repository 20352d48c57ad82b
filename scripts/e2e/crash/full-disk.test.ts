import { spawn, spawnSync } from "node:child_process";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { cleanUp, newFolder, start } from "../../testing/processes.ts";
import { RPS, testLeague } from "../../testing/test-league.ts";

afterEach(cleanUp);

/** A shell script that mounts a small file system at the folder `$0` and runs a command. */
const SMALL = 'mount -t tmpfs -o size=4m tmpfs "$0" && exec "$@"';
const onSmallDisk = (folder: string, command: readonly string[]): string[] => [
  "--mount",
  "sh",
  "-c",
  SMALL,
  folder,
  ...command,
];
const canMount = spawnSync("unshare", onSmallDisk(tmpdir(), ["true"])).status === 0;

/** Fills the file system of a folder. Returns the file that fills it. */
function fill(folder: string): string {
  const file = join(folder, "filler");
  for (const bytes of [65_536, 512]) {
    try {
      while (true) writeFileSync(file, Buffer.alloc(bytes), { flag: "a" });
    } catch {}
  }
  return file;
}

describe.skipIf(!canMount)("a manager whose disk is full (needs root and unshare)", () => {
  it("rejects a player with the cause and registers it when there is space", async () => {
    const test = await testLeague([], RPS);
    const data = join(test.folder, "data");
    const manager = start("league-manager/main.ts", ["--config", test.file, "--data", data], {}, "ignore", {
      spawn: (command, options = {}) => spawn("unshare", onSmallDisk(data, command), options),
    });
    await manager.line(/league manager at/);
    const inside = `/proc/${manager.pid}/root${data}`;
    expect(existsSync(join(inside, "league-manager.sqlite"))).toBe(true);
    const filler = fill(inside);
    const url = `http://127.0.0.1:${test.port}/mcp`;
    const options = ["--bot", "random", "--manager", url, "--port", "0", "--data", newFolder()];
    const player = start("player/main.ts", [...options, "--name", "Ann"]);
    const rejected = await player.line(/registration was rejected/);
    expect(rejected).toContain(
      "the data cannot be written: the disk is full; try again later. Trying again every second",
    );
    await manager.line(/cannot write to .*league-manager\.sqlite: the disk is full/);
    rmSync(filler);
    await player.line(/registered as P01 in rps/);
    await manager.line(/league-manager\.sqlite can be written again/);
  });
});
