// `testing/export-v2.json` contains the texts of an export of an earlier version, by file name.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { matchFile, RUN_FILE } from "../format.ts";
import { expectFault, messagesOf } from "../testing/attempts.ts";
import { testExports } from "../testing/exports.ts";
import { forgeFile, type Json, rewriteManifest } from "../testing/forgery.ts";
import { verifyExport } from "./verify.ts";

const V2: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(new URL("../testing/export-v2.json", import.meta.url), "utf8"),
);
const R1M1 = matchFile("rps", "R1M1");

const exports = testExports();
afterAll(() => exports.remove());

/** Writes the export of the earlier version into a folder and changes it. Returns the folder. */
function unpack(...changes: readonly ((folder: string) => void)[]): string {
  const folder = exports.newFolder();
  for (const [file, text] of Object.entries(V2)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  rewriteManifest(folder);
  for (const change of changes) change(folder);
  return folder;
}

const changeRun = (change: (run: Json) => void) => (folder: string) => forgeFile(folder, RUN_FILE, change);
const changeMatch = (change: (match: Json) => void) => (folder: string) => forgeFile(folder, R1M1, change);
const asV1 = changeRun((run) => (run.format = "agent-league.export.v1"));
/** Sets the epoch of R1M1 to 2 and leaves its seed unchanged. */
const setSecondEpoch = changeMatch((match) => (match.epoch = 2));

describe("an export of an earlier version", () => {
  it("is verified with the exception that it has no league log", () => {
    const { standings, digest, ...verified } = verifyExport(unpack());
    expect(verified).toEqual({
      verdict: "verified except",
      faults: [],
      matches: 6,
      withoutLog: [],
      unplayed: new Map(),
      notStarted: [],
      signature: null,
      exceptions: [{ file: RUN_FILE, message: "no league log: pairings, epochs, referees and names were not checked" }],
      discarded: 0,
      unknownGames: [],
    });
    expect([...standings.keys()]).toEqual(["rps", "even-odd"]);
  });

  it("cannot have the log of an annulled match, because no log of the league contains its result", () => {
    const verified = verifyExport(unpack(changeMatch((match) => (match.annulled_log = match.log))));
    expectFault(verified, R1M1, /^has an annulled_log, but the export has no log of the league$/);
  });

  it("has one seed for all epochs of a match in v1, and one seed for each epoch in v2", () => {
    const message = "its seed does not follow from the seed of the run";
    expect(verifyExport(unpack(asV1, setSecondEpoch)).faults).toEqual([]);
    expect(verifyExport(unpack(setSecondEpoch)).faults).toEqual([{ file: R1M1, message }]);
  });

  it("counts the scheduled matches that a running league has not played", () => {
    const running = (matches: readonly string[]) =>
      changeRun((run) => Object.assign(run.leagues[0], { status: "running", matches }));
    expect(verifyExport(unpack(running(["R1M1"]))).unplayed).toEqual(new Map([["rps", 2]]));
    // R1M2 was added by the operator and is not in the schedule.
    expect(verifyExport(unpack(running(["R1M1", "R1M2"]))).unplayed).toEqual(new Map([["rps", 2]]));
  });

  it("is checked without a schedule if it has more players than the limit", () => {
    const player = (_: unknown, index: number) => ({ player_id: `Q${index}`, display_name: "Q" });
    const players = Array.from({ length: 50_000 }, player);
    const change = changeRun((run) => Object.assign(run.leagues[0], { players, status: "running" }));
    expect(verifyExport(unpack(change)).unplayed).toEqual(new Map([["rps", 0]]));
  });

  it("names each match without a log", () => {
    const noResult = { winner: null, final_scores: {}, match_points: {}, faults: [], log: [], log_head: "" };
    const { faults, exceptions, withoutLog } = verifyExport(
      unpack(
        changeMatch((match) => Object.assign(match, noResult, { termination: "aborted" })),
        changeRun((run) => (run.leagues[0].standings = [])),
      ),
    );
    expect(faults.map(({ file }) => file)).toEqual([RUN_FILE]);
    expect(withoutLog).toEqual(["rps/R1M1"]);
    expect(exceptions).toContainEqual({ file: R1M1, message: "rps/R1M1 has no log (aborted)" });
  });

  it.each<[string, (match: Json) => void, string]>([
    [
      "points for both players after a forfeit",
      (match) => (match.termination = "forfeit"),
      "a loss of the absent players",
    ],
    ["a winner after an abort", (match) => (match.termination = "aborted"), "neither winner nor points"],
    ["a normal end", () => {}, "a result without its log"],
  ])("is not sound if a match without a log has %s", (_, change, message) => {
    const removeLog = changeMatch((match) => {
      Object.assign(match, { log: [], log_head: "", faults: [] });
      change(match);
    });
    expect(messagesOf(verifyExport(unpack(removeLog)), R1M1)).toEqual([expect.stringContaining(message)]);
  });

  it.each<[string, (folder: string) => void, string, RegExp]>([
    ["another winner of a match", changeMatch((match) => (match.winner = "P09")), R1M1, /^winner is "P09"/],
    [
      "an unknown player in a role",
      changeMatch((match) => (match.roles.player_1 = "P09")),
      R1M1,
      /^P09 is not a player of rps$/,
    ],
    [
      "a duplicate player",
      changeRun((run) => run.leagues[0].players.push(run.leagues[0].players[0])),
      RUN_FILE,
      /^rps: lists the player P01 twice$/,
    ],
    [
      "an unknown status",
      changeRun((run) => (run.leagues[0].status = "won")),
      RUN_FILE,
      /^rps: "won" is not a status of a league$/,
    ],
    [
      "another round of a match",
      changeMatch((match) => (match.round_id = 3)),
      R1M1,
      /^R1M1 in round 3 is outside the schedule$/,
    ],
    [
      "a match of a completed league in another round",
      changeMatch((match) => (match.round_id = 3)),
      RUN_FILE,
      /^rps is completed without R1M1$/,
    ],
    [
      "the id of another match in a match",
      changeMatch((match) => (match.match_id = "R9M9")),
      R1M1,
      /^contains another match: rps\/R9M9 of rps.v1$/,
    ],
    [
      "other options in a match",
      changeMatch((match) => (match.options.best_of = 5)),
      R1M1,
      /^its options are not those of the league$/,
    ],
    [
      "another seed of the run",
      changeRun((run) => (run.seed = "x")),
      R1M1,
      /^its seed does not follow from the seed of the run$/,
    ],
    [
      "the file of an unlisted match",
      changeRun((run) => run.leagues[0].matches.shift()),
      R1M1,
      /^is not listed in league.json$/,
    ],
    [
      "an unlisted match in a completed league",
      changeRun((run) => run.leagues[0].matches.shift()),
      RUN_FILE,
      /^rps is completed without R1M1$/,
    ],
    [
      "another name",
      changeRun((run) => (run.leagues[0].players[0].display_name = "Zoe")),
      RUN_FILE,
      /^the standings of rps do not follow/,
    ],
    ["an unknown field", changeRun((run) => (run.leagues[0].log_head = "x")), RUN_FILE, /unknown field/],
  ])("is not sound with %s", (_, change, file, message) => {
    expectFault(verifyExport(unpack(change)), file, message);
  });
});
