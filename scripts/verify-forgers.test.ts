import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sha256Hex } from "#shared/lib/hash.ts";
import { newToken } from "#shared/lib/ids.ts";
import { exportedFiles, findStore, matchFile, RUN_FILE, writeExport } from "./export.ts";
import { forge } from "./testing-export.ts";
import { startTestLeague } from "./testing-league.ts";
import { verifyExport } from "./verify.ts";

// biome-ignore lint/suspicious/noExplicitAny: whatever is in the file
type Json = any;

let root: string;
let sound: string;
/** As long as one that the manager chooses itself. */
const SEED = newToken();
const LEAGUES = [
  { league_id: "rps", game: "rps.v1", options: { best_of: 3 } },
  { league_id: "even-odd", game: "even_odd.v1", options: {} },
];
const players = ["Ann", "Bob", "Cid"].map((name) => ({ name, bot: "random" }));
const FAULT = { player_id: "P01", role: "player_1", code: "G002", cause: "timeout", detail: "too late" };
/** Nobody is to lose a match because the machine has much else to do. */
const PATIENT = { join_ms: 10_000, move_ms: 10_000 };

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "league-forgers-"));
  sound = join(root, "sound");
  const league = await startTestLeague({ leagues: LEAGUES, players, timeouts: PATIENT, seed: SEED });
  try {
    await league.completed;
    writeFileSync(join(league.dataFolder, "config.json"), JSON.stringify({ leagues: LEAGUES }));
    writeExport(sound, await exportedFiles(findStore(league.dataFolder)));
  } finally {
    await league.stop();
  }
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** What verify says of each file of the sound export when one is changed and the manifest made to fit again. */
function faultsOf(file: string, change: (value: Json) => void): Record<string, string[]> {
  const folder = mkdtempSync(join(root, "forged-"));
  cpSync(sound, folder, { recursive: true });
  forge(file, change)(folder);
  const found: Record<string, string[]> = {};
  for (const fault of verifyExport(folder).faults) found[fault.file] = [...(found[fault.file] ?? []), fault.message];
  return found;
}

const leagueOf = (run: Json, id: string): Json => run.leagues.find((league: Json) => league.league_id === id);
/** Has the players of a match change places in it, in all but its log. */
function changePlaces(match: Json): void {
  const [a, b] = Object.values(match.roles) as [string, string];
  const { log, ...rest } = match;
  const text = JSON.stringify(rest)
    .replaceAll(`"${a}"`, '"?"')
    .replaceAll(`"${b}"`, `"${a}"`)
    .replaceAll('"?"', `"${b}"`);
  Object.assign(match, JSON.parse(text));
}

test("the export that the forgers begin with is sound", () => {
  expect(verifyExport(sound)).toMatchObject({ faults: [], matches: 6 });
});

describe.each(LEAGUES.map(({ league_id, game }) => [league_id, game] as const))("a forger of %s", (id, game) => {
  const file = matchFile(id, "R2M1");

  test.each<[string, (match: Json) => void, RegExp]>([
    ["the winner", (match) => (match.winner = "P09"), /^winner is "P09", but the log gives/],
    ["the points", (match) => (match.match_points = { P01: 3 }), /^match_points is {"P01":3}, but the log gives/],
    ["the scores", (match) => (match.final_scores = { P01: 9 }), /^final_scores is {"P01":9}, but the log gives/],
    ["the termination", (match) => (match.termination = "forfeit"), /^termination is "forfeit", but the log gives/],
    ["the reason", (match) => (match.reason = "luck"), /^reason is "luck", but the log gives/],
    ["the faults", (match) => (match.faults = [FAULT]), /^faults is \[{.*}\], but the log gives \[\]/],
    ["the head of the log", (match) => (match.log_head = sha256Hex("")), /^log_head is "e3b0c44.*, but the log gives/],
    ["the seed", (match) => (match.seed = newToken()), /^the seed does not follow from the run's/],
    ["an entry's time", (match) => (match.log[1] = match.log[1].replace(/"at":"20/, '"at":"19')), /^log_head is/],
    ["the log to nothing", (match) => Object.assign(match, { log: [], log_head: "" }), /^a result without its log/],
  ])("who changes %s of a match is found out by it", (_what, change, message) => {
    const found = faultsOf(file, change)[file] ?? [];
    expect(found).toContainEqual(expect.stringMatching(message));
  });

  test.each<[string, object, string]>([
    ["match", { match_id: "R9M9" }, `holds ${id}/R9M9 of ${game}`],
    ["league", { league_id: "other" }, `holds other/R2M1 of ${game}`],
    ["game", { game: "chess.v1" }, `holds ${id}/R2M1 of chess.v1`],
  ])("who has a match's file hold another %s is found out by it", (_what, other, message) => {
    expect(faultsOf(file, (match) => Object.assign(match, other))[file]).toContain(message);
  });

  test("who has the players of a match change places is found out by the schedule, though the log fits", () => {
    const faults = faultsOf(file, changePlaces);
    expect(faults[file] ?? []).toEqual([]);
    expect(faults[RUN_FILE]).toContain(`${id} is completed without R2M1`);
    const rolesAlone = faultsOf(file, (match) => {
      const [[first, a], [second, b]] = Object.entries(match.roles) as [[string, string], [string, string]];
      match.roles = { [first]: b, [second]: a };
    });
    expect(rolesAlone[RUN_FILE]).toContain(`${id} is completed without R2M1`);
  });

  test.each<[string, (league: Json) => void]>([
    ["a name", (league) => (league.standings[0].display_name = "Zoe")],
    ["points", (league) => league.standings[1].points++],
    ["the order", (league) => league.standings.reverse()],
  ])("who changes %s in the standings is found out by the matches", (_what, change) => {
    const faults = faultsOf(RUN_FILE, (run) => change(leagueOf(run, id)));
    expect(faults).toEqual({ [RUN_FILE]: [`standings of ${id} are not those of its matches`] });
  });

  test("who tells another seed of the run is found out by its commitment and by every match", () => {
    const other = `${SEED.slice(0, -1)}${SEED.endsWith("A") ? "B" : "A"}`;
    const faults = faultsOf(RUN_FILE, (run) => (run.seed = other));
    const ofLeagues = LEAGUES.map(({ league_id }) => `the seed of ${league_id} does not follow from the run's`);
    expect(faults[RUN_FILE]).toEqual([...ofLeagues, "the run's seed does not match its commitment"]);
    expect(faults[file]).toEqual(["the seed does not follow from the run's"]);
    const committed = faultsOf(RUN_FILE, (run) => {
      run.seed = other;
      run.seed_commitment = sha256Hex(other);
    });
    expect(committed[file]).toEqual(["the seed does not follow from the run's"]);
    const onlyCommitment = faultsOf(RUN_FILE, (run) => (run.seed_commitment = sha256Hex(other)));
    expect(onlyCommitment).toEqual({ [RUN_FILE]: ["the run's seed does not match its commitment"] });
  });
});

test("points that no match gives are found, and verify goes on", () => {
  const file = matchFile("rps", "R1M1");
  const faults = faultsOf(file, (match) => Object.assign(match, { match_points: { P01: 9 } }));
  expect(faults[file]).toEqual([expect.stringContaining("a match gives 3, 1 or 0 points")]);
});

test("players left out of a league are missed in its matches", () => {
  const faults = faultsOf(RUN_FILE, (run) => {
    for (const league of run.leagues.slice(0, 1)) Object.assign(league, { players: [], standings: [] });
  });
  const file = matchFile("rps", "R1M1");
  expect(faults[file]).toHaveLength(2);
  expect(faults[file]?.[0]).toMatch(/^P0[123] is no player of rps$/);
});

test("an export that is made while a league is open does not tell the run's seed, in no file", async () => {
  const leagues = [...LEAGUES.slice(0, 1), { league_id: "later", game: "even_odd.v1", options: {} }];
  const inOne = players.map((player) => ({ ...player, leagueIds: ["rps"] }));
  const over = Promise.withResolvers<void>();
  const league = await startTestLeague({
    ...{ leagues, players: inOne, seed: SEED },
    onEvent: (event) => event.type === "league_completed" && over.resolve(),
  });
  try {
    await over.promise;
    writeFileSync(join(league.dataFolder, "config.json"), JSON.stringify({ leagues }));
    const files = await exportedFiles(findStore(league.dataFolder));
    const run = JSON.parse(files.get(RUN_FILE) ?? "");
    expect(run.leagues.map(({ status }: Json) => status)).toEqual(["completed", "open"]);
    expect(run).toMatchObject({ seed: null, seed_commitment: sha256Hex(SEED) });
    expect(files.size).toBe(4);
    for (const [name, text] of files) expect(text, name).not.toContain(SEED);
  } finally {
    await league.stop();
  }
});
