import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { sha256Hex } from "#shared/lib/hash.ts";
import { type Begin, Recorder, recordsFolder } from "../../../player/llm/records.ts";
import { exportOf } from "../export-store.ts";
import { type ExportedMatch, llmFile, llmManifestFile, ExportedMatch as Match, writeExport } from "../format.ts";
import { filesIn, testExports } from "../testing/exports.ts";
import { rewriteManifest } from "../testing/forgery.ts";
import { plainRun } from "../testing/store.ts";
import { verifyExport } from "./verify.ts";

const exports = testExports();
afterAll(() => exports.remove());

const FACTS = { package_version: "1", prompt_version: 1 };

/** Writes the record of P01 for a match, as a player in the folder of the run does. */
function writeRecord(folder: string, match: ExportedMatch, change: Partial<Begin> = {}): void {
  const { league_id, match_id, epoch, game, options, roles } = match;
  const role = Object.keys(roles).find((one) => roles[one] === "P01") ?? "";
  const begin: Begin = {
    type: "begin",
    at: "",
    league_id,
    match_id,
    epoch,
    game,
    options,
    role,
    player_id: "P01",
    seed_commitment: sha256Hex(match.seed),
    model: "m",
    ...FACTS,
    system: "the rules",
    ...change,
  };
  const settings = { base_url: "http://h/v1", model: "m", max_tokens: 9, answer: "auto" } as const;
  const recorder = new Recorder(join(recordsFolder(folder), "Ann"), begin, {
    format: "agent-league.llm.v1",
    ...FACTS,
    settings,
  });
  const { seed } = match;
  recorder.end({ type: "end", at: "", seed, winner: null, termination: "normal", reason: "won" });
}

/** Exports a run with the records that `write` adds to its folder. */
async function exportedWith(write: (folder: string, match: ExportedMatch) => void): Promise<string> {
  const folder = exports.newFolder();
  const store = await plainRun(folder);
  const { files } = await exportOf(store);
  const texts = [...files].flatMap(([name, text]) =>
    name.startsWith("matches") ? [Match.parse(JSON.parse(text))] : [],
  );
  const match = texts.find(({ roles }) => Object.values(roles).includes("P01"));
  if (!match) throw new Error("P01 has played no match");
  write(dirname(store), match);
  const out = join(folder, "export");
  writeExport(out, (await exportOf(store)).files);
  return out;
}

const isLlm = (file: string): boolean => file.startsWith("llm");

describe("an export", () => {
  it("contains the records of language models for its matches, with their manifests, and is verified", async () => {
    let played: ExportedMatch | undefined;
    const out = await exportedWith((folder, match) => {
      played = match;
      writeRecord(folder, match);
    });
    const file = llmFile("P01", played?.league_id ?? "", played?.match_id ?? "");
    expect(filesIn(out).filter(isLlm).sort()).toEqual([file, llmManifestFile("P01")].sort());
    expect(JSON.parse(readFileSync(join(out, llmManifestFile("P01")), "utf8")).matches).toEqual([
      expect.objectContaining({ file, seed: played?.seed }),
    ]);
    expect(verifyExport(out)).toMatchObject({ verdict: "verified", faults: [] });
  });

  it.each<[string, Partial<Begin>]>([
    ["another attempt", { epoch: 2 }],
    ["an earlier run in the same folder", { seed_commitment: sha256Hex("another") }],
    ["a match that is not completed", { match_id: "R9M9" }],
    ["another player", { player_id: "P07" }],
  ])("does not contain the record of %s", async (_, change) => {
    const out = await exportedWith((folder, match) => writeRecord(folder, match, change));
    expect(filesIn(out).filter(isLlm)).toEqual([]);
  });

  it.each<[string, (text: string) => string, string]>([
    [
      "of another match",
      (text) => text.replace(/"epoch":1/, '"epoch":2'),
      "is the record of another match or another player",
    ],
    ["with another line", (text) => `${text}{}\n`, "a line is not a record of a language model"],
  ])("is not sound with a record %s", async (_, change, message) => {
    const out = await exportedWith((folder, match) => writeRecord(folder, match));
    const file = filesIn(out).find((name) => name.endsWith(".jsonl") && isLlm(name)) ?? "";
    writeFileSync(join(out, file), change(readFileSync(join(out, file), "utf8")));
    rewriteManifest(out);
    expect(verifyExport(out).faults).toEqual([{ file, message }]);
  });
});
