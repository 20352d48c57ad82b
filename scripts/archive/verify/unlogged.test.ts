/** Exports that earlier versions wrote. `testing/export-v2.json` is one of them, file by file. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { matchFile, RUN_FILE } from "../files.ts";
import { expectFault, messagesOf } from "../testing/attempts.ts";
import { testExports } from "../testing/exports.ts";
import { forgeFile, type Json, restamp } from "../testing/forgery.ts";
import { verifyExport } from "./verify.ts";

const V2: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(new URL("../testing/export-v2.json", import.meta.url), "utf8"),
);
const R1M1 = matchFile("rps", "R1M1");

const exports = testExports();
afterAll(() => exports.remove());

/** A folder with the old export, after changes. */
function unpacked(...changes: readonly ((folder: string) => void)[]): string {
  const folder = exports.newFolder();
  for (const [file, text] of Object.entries(V2)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  restamp(folder);
  for (const change of changes) change(folder);
  return folder;
}

const inRun = (change: (run: Json) => void) => (folder: string) => forgeFile(folder, RUN_FILE, change);
const inMatch = (change: (match: Json) => void) => (folder: string) => forgeFile(folder, R1M1, change);
const asV1 = inRun((run) => (run.format = "agent-league.export.v1"));
/** R1M1 under its second epoch. In v1 the seed is that of the first epoch. */
const secondTry = inMatch((match) => (match.epoch = 2));

describe("an export of an earlier version", () => {
  it("is verified except that it has no league log", () => {
    const { standings, digest, ...verified } = verifyExport(unpacked());
    expect(verified).toEqual({
      ...{ verdict: "verified except", faults: [], matches: 6, withoutLog: [], unplayed: new Map(), signature: null },
      exceptions: [{ file: RUN_FILE, message: "no league log: pairings, epochs, referees and names were not checked" }],
      discarded: 0,
    });
    expect([...standings.keys()]).toEqual(["rps", "even-odd"]);
  });

  it("of v1 has one seed for all epochs of a match, one of v2 another seed for each", () => {
    const message = "its seed is not the one that the seed of the run gives";
    expect(verifyExport(unpacked(asV1, secondTry)).faults).toEqual([]);
    expect(verifyExport(unpacked(secondTry)).faults).toEqual([{ file: R1M1, message }]);
  });

  it("of a running league counts the scheduled matches that were not played", () => {
    const running = (matches: readonly string[]) =>
      inRun((run) => Object.assign(run.leagues[0], { status: "running", matches }));
    expect(verifyExport(unpacked(running(["R1M1"]))).unplayed).toEqual(new Map([["rps", 2]]));
    // A match that the operator added is not one of those.
    expect(verifyExport(unpacked(running(["R1M1", "R1M2"]))).unplayed).toEqual(new Map([["rps", 2]]));
  });

  it("with more players than a league can have is checked without their schedule", () => {
    const player = (_: unknown, index: number) => ({ player_id: `Q${index}`, display_name: "Q" });
    const players = Array.from({ length: 50_000 }, player);
    const change = inRun((run) => Object.assign(run.leagues[0], { players, status: "running" }));
    expect(verifyExport(unpacked(change)).unplayed).toEqual(new Map([["rps", 0]]));
  });

  it("names each match without a log", () => {
    const nothing = { winner: null, final_scores: {}, match_points: {}, faults: [], log: [], log_head: "" };
    const { faults, exceptions, withoutLog } = verifyExport(
      unpacked(
        inMatch((match) => Object.assign(match, nothing, { termination: "aborted" })),
        inRun((run) => (run.leagues[0].standings = [])),
      ),
    );
    expect(faults.map(({ file }) => file)).toEqual([RUN_FILE]);
    expect(withoutLog).toEqual(["rps/R1M1"]);
    expect(exceptions).toContainEqual({ file: R1M1, message: "rps/R1M1 has no log (aborted)" });
  });

  it.each<[string, (match: Json) => void, string]>([
    ["a forfeit with points for both", (match) => (match.termination = "forfeit"), "lost by who was absent"],
    ["a winner of an aborted match", (match) => (match.termination = "aborted"), "neither winner nor points"],
    ["a normal end", () => {}, "a result without its log"],
  ])("is not sound with a match without a log that has %s", (_, change, message) => {
    const without = inMatch((match) => {
      Object.assign(match, { log: [], log_head: "", faults: [] });
      change(match);
    });
    expect(messagesOf(verifyExport(unpacked(without)), R1M1)).toEqual([expect.stringContaining(message)]);
  });

  it.each<[string, (folder: string) => void, string, RegExp]>([
    ["a winner", inMatch((match) => (match.winner = "P09")), R1M1, /^winner is "P09"/],
    ["a player", inMatch((match) => (match.roles.player_1 = "P09")), R1M1, /^P09 is no player of rps$/],
    [
      "a player twice",
      inRun((run) => run.leagues[0].players.push(run.leagues[0].players[0])),
      RUN_FILE,
      /^rps: lists the player P01 twice$/,
    ],
    ["a status", inRun((run) => (run.leagues[0].status = "won")), RUN_FILE, /^rps: "won" is no status of a league$/],
    ["a round of a match", inMatch((match) => (match.round_id = 3)), R1M1, /^R1M1 in round 3 is outside the schedule$/],
    ["a round", inMatch((match) => (match.round_id = 3)), RUN_FILE, /^rps is completed without R1M1$/],
    [
      "another match",
      inMatch((match) => (match.match_id = "R9M9")),
      R1M1,
      /^is about another match: rps\/R9M9 of rps.v1$/,
    ],
    ["options", inMatch((match) => (match.options.best_of = 5)), R1M1, /^its options are not the league's$/],
    [
      "the seed of the run",
      inRun((run) => (run.seed = "x")),
      R1M1,
      /^its seed is not the one that the seed of the run gives$/,
    ],
    ["a match left out", inRun((run) => run.leagues[0].matches.shift()), R1M1, /^is not listed in league.json$/],
    [
      "the list of matches",
      inRun((run) => run.leagues[0].matches.shift()),
      RUN_FILE,
      /^rps is completed without R1M1$/,
    ],
    [
      "a name",
      inRun((run) => (run.leagues[0].players[0].display_name = "Zoe")),
      RUN_FILE,
      /^the standings of rps are not/,
    ],
    ["a log of the league", inRun((run) => (run.leagues[0].log_head = "x")), RUN_FILE, /unknown field/],
  ])("is not sound with %s changed", (_, change, file, message) => {
    expectFault(verifyExport(unpacked(change)), file, message);
  });
});
