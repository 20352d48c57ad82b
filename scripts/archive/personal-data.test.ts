import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { lockFile } from "#shared/store/sqlite.ts";
import { forget } from "../commands/operator.ts";
import { exportOf } from "./export-store.ts";
import { RUN_FILE, writeExport } from "./format.ts";
import { listPersonalData } from "./personal-data.ts";
import { plainRun, writeStore } from "./testing/store.ts";
import { verifyExport } from "./verify/verify.ts";

/** A name that is not a part of any other text in the folder. */
const NAME = 'Žofie "Z", Nováková';
const FILES = ["tokens/player-", "logs/", "llm/"];

let folder: string;
let printed: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "personal-data-"));
  printed = "";
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    printed += String(text);
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

const writeIn = (file: string, text: string): void => {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), text);
};

/** Writes the store of a completed league with the player P02, and the files that processes write about it. */
async function completedRun(): Promise<string> {
  const file = await writeStore(folder, ["rps"], async (run) => {
    await run.start("Ann", NAME, "Cid");
    for (const _ of [1, 2, 3]) await run.round("rps");
    await run.complete("rps");
  });
  const own = encodeURIComponent(NAME);
  writeIn(`tokens/player-${own}`, "token\n");
  writeIn(`logs/${own}.log`, "own log\n");
  writeIn(`logs/${own}/rps/R1M1.log`, "output of the bot\n");
  writeIn(`llm/${own}/manifest.json`, "{}\n");
  writeIn("logs/league-manager.log", `${JSON.stringify({ msg: `player P02 registered: ${NAME}` })}\nAnn\n`);
  writeIn("logs/Ann.log", "Ann\n");
  writeIn(
    "config.json",
    JSON.stringify({ players: [{ name: "Ann" }, { name: NAME, endpoint: "http://10.0.0.7/mcp" }] }),
  );
  return file;
}

/** Returns the files below the folder that contain the name, as text or in JSON. */
const filesWithName = (): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => {
    const isNamed = name.includes("Nov%C3%A1kov%C3%A1");
    return isNamed || (statSync(join(folder, name)).isFile() && readFileSync(join(folder, name)).includes("Nováková"));
  });

it("personal-data lists every file with the name of a player, by its name and by its id", async () => {
  await completedRun();
  await listPersonalData(NAME, { data: folder });
  const byName = printed;
  for (const file of filesWithName()) {
    const isInListedFolder = FILES.some((prefix) => byName.includes(join(folder, prefix)) && file.startsWith(prefix));
    expect(isInListedFolder || byName.includes(join(folder, file)), file).toBe(true);
  }
  expect(byName).toContain("http://127.0.0.1:9002/mcp");
  expect(byName).toMatch(/kept +the actions of 2 matches/);
  printed = "";
  await listPersonalData("P02", { data: folder, json: true });
  expect(JSON.parse(printed)).toMatchObject([
    {
      profile: { player_id: "P02", display_name: NAME },
      matches: 2,
      logs: { [join(folder, "logs/league-manager.log")]: 1 },
    },
  ]);
});

it.each(["P02", NAME])("forget %s erases the name in every file, and the export is verified", async (player) => {
  const file = await completedRun();
  const before = filesWithName();
  expect(before.length).toBeGreaterThan(6);
  await forget(player, { data: folder });
  expect(filesWithName()).toEqual([]);
  expect(readFileSync(join(folder, "logs/Ann.log"), "utf8")).toBe("Ann\n");
  expect(JSON.parse(readFileSync(join(folder, "config.json"), "utf8"))).toEqual({
    players: [{ name: "Ann" }, { name: "P02", self: true }],
  });
  expect(printed).toContain("P02 is erased in ");

  const { files } = await exportOf(file);
  writeExport(join(folder, "export"), files);
  const { verdict, faults, exceptions, standings } = verifyExport(join(folder, "export"));
  expect({ verdict, faults }).toEqual({ verdict: "verified except", faults: [] });
  expect(exceptions).toEqual([{ file: RUN_FILE, message: "the name of P02 in rps is erased" }]);
  expect(
    standings
      .get("rps")
      ?.map(({ display_name }) => display_name)
      .toSorted(),
  ).toEqual(["Ann", "Cid", "P02"]);
  await expect(forget(player, { data: folder })).rejects.toThrow("no data of ");
});

it("forget completes an erasure that was interrupted after the profile was erased", async () => {
  const file = await completedRun();
  const db = new DatabaseSync(file);
  db.exec("DELETE FROM profiles WHERE agent_id = 'P02'; DELETE FROM tokens WHERE agent_id = 'P02'; VACUUM");
  db.close();
  expect(filesWithName().length).toBeGreaterThan(3);
  await forget(NAME, { data: folder });
  expect(filesWithName()).toEqual([]);
});

it("forget by name erases the player in every run of a data folder, and by id in the newest", async () => {
  const runs = ["1", "2"].map((name) => join(folder, "runs", name));
  for (const run of runs) await plainRun(run);
  await forget("Bob", { data: folder });
  expect(printed.match(/P02 is erased in /g)).toHaveLength(2);
  printed = "";
  await forget("P01", { data: folder });
  expect(printed.match(/P01 is erased in /g)).toHaveLength(1);
});

it("forget rejects a player whose round is under way and a run that is not finished, and changes nothing", async () => {
  await writeStore(folder, ["rps"], async (run) => {
    await run.start("Ann", NAME, "Cid");
    await run.round("rps", () => null);
  });
  await expect(forget(NAME, { data: folder })).rejects.toThrow("P02 has a match to play (rps/R1M1)");
  writeIn("run.json", JSON.stringify({ status: "running" }));
  await expect(forget("Ann", { data: folder })).rejects.toThrow("is not finished: continue it with");
  expect(filesWithName()).not.toEqual([]);
});

it("forget asks the manager if one uses the folder, and changes no file if there is no answer", async () => {
  const file = await completedRun();
  writeIn("operator-token", "token");
  writeIn("serve.json", JSON.stringify({ manager: { port: 1 }, players: [{ name: NAME }] }));
  const lock = lockFile(file);
  const before = filesWithName();
  await expect(forget("P02", { data: folder })).rejects.toThrow("http://127.0.0.1:1/mcp: no answer");
  lock?.release();
  expect(filesWithName()).toEqual(before);
});

it("an unknown player is named with the folder", async () => {
  await plainRun(folder);
  await expect(listPersonalData("Dora", { data: folder })).rejects.toThrow(`no data of Dora in ${folder}`);
  await expect(forget("P09", { data: folder })).rejects.toThrow(`no data of P09 in ${folder}`);
});
