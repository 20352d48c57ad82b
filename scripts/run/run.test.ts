import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import type { RecordedEvent } from "#shared/lib/hash.ts";
import { replay, replayTexts } from "#shared/session/replay.ts";
import { verdictOf } from "#shared/session/verdict.ts";
import { summaryOf } from "../../league-manager/league/outcome.ts";
import { sessionLog, storedState } from "../../league-manager/testing/stored-state.ts";
import { cleanUp, type Ended, league, processesIn } from "../testing/processes.ts";
import { ALL_LEAGUES, documentOf, FOUR_BOTS, runFolders, type TestLeague, testLeague } from "../testing/test-league.ts";

const playerId = z.string().regex(/^P\d\d$/);
const count = z.int().min(0);
/** The document of `league run --json`, with exactly these fields. */
const Document = z.strictObject({
  leagues: z.array(
    z.strictObject({
      league_id: z.string(),
      game: z.string(),
      format: z.literal("round-robin"),
      format_options: z.strictObject({ cycles: z.literal(1), makeup: z.literal(false) }),
      status: z.literal("completed"),
      matches: z.array(
        z.strictObject({
          match_id: z.string().regex(/^R\d+M\d+$/),
          round_id: z.int().min(1),
          roles: z.record(z.string(), playerId),
          winner: playerId.nullable(),
          points: z.record(playerId, z.union([z.literal(0), z.literal(1), z.literal(3)])),
          termination: z.enum(["normal", "forfeit", "aborted"]),
          reason: z.string().min(1),
          referee_id: z.string().regex(/^REF\d\d$/),
        }),
      ),
      standings: z.array(
        z.strictObject({
          rank: z.int().min(1),
          player_id: playerId,
          display_name: z.string(),
          played: count,
          wins: count,
          draws: count,
          losses: count,
          byes: count.optional(),
          points: count,
        }),
      ),
      ratings: z.strictObject({
        model: z.literal("bradley-terry"),
        matches: count,
        players: z.array(
          z.strictObject({
            player_id: playerId,
            display_name: z.string(),
            rating: z.number(),
            error: z.number().positive(),
            matches: count,
            percent: z.number().min(0).max(100),
          }),
        ),
        comparisons: z.array(
          z.strictObject({
            player_id: playerId,
            other_id: playerId,
            difference: z.number().min(0),
            error: z.number().positive(),
            likelihood: z.number().min(0.5).max(1),
            significant: z.boolean(),
          }),
        ),
      }),
    }),
  ),
});

/** Computes the standings by the rules at the end of PROTOCOL.md, independently of the manager's code. */
function recomputeStandings(matches: z.infer<typeof Document>["leagues"][number]["matches"], ids: readonly string[]) {
  const rows = ids.map((id) => {
    const points = matches
      .filter((match) => match.termination !== "aborted")
      .flatMap((match) => match.points[id] ?? []);
    const countOf = (value: number): number => points.filter((each) => each === value).length;
    const [wins, draws, losses] = [countOf(3), countOf(1), countOf(0)];
    return { player_id: id, played: points.length, wins, draws, losses, points: 3 * wins + draws };
  });
  rows.sort(
    (a, b) => b.points - a.points || b.wins - a.wins || b.draws - a.draws || (a.player_id < b.player_id ? -1 : 1),
  );
  const keyOf = ({ points, wins, draws }: (typeof rows)[number]): string => [points, wins, draws].join();
  return rows.map((row) => ({ rank: rows.findIndex((other) => keyOf(other) === keyOf(row)) + 1, ...row }));
}

describe("league run", () => {
  let test: TestLeague;
  let first: Ended;
  beforeAll(async () => {
    test = await testLeague(FOUR_BOTS, ALL_LEAGUES, { referees: 2 });
    first = await league(["run", test.file, "--json", "--seed", "7"]);
  });
  afterAll(cleanUp);

  it("exits with 0 and leaves no process running", () => {
    expect(first.code, first.stderr).toBe(0);
    expect(processesIn(test.folder)).toEqual([]);
  });

  it("prints one JSON document with the documented fields", () => {
    const document = Document.parse(documentOf(first));
    expect(document.leagues.map(({ league_id, game }) => ({ league_id, game }))).toEqual(
      ALL_LEAGUES.map(({ league_id, game }) => ({ league_id, game })),
    );
    for (const { matches } of document.leagues) {
      expect(matches).toHaveLength(6);
      expect(matches.map((match) => match.termination)).toEqual(Array(6).fill("normal"));
      expect(new Set(matches.map((match) => Object.values(match.roles).sort().join("-"))).size).toBe(6);
    }
    for (const match of document.leagues.flatMap((league) => league.matches)) {
      expect(Object.keys(match.points).sort()).toEqual(Object.values(match.roles).sort());
      const won = Object.entries(match.points).find(([, points]) => points === 3);
      expect(match.winner).toBe(won?.[0] ?? null);
    }
  });

  it("prints standings that follow from the matches", () => {
    for (const { matches, standings } of Document.parse(documentOf(first)).leagues) {
      expect(standings.map(({ display_name: _, ...row }) => row)).toEqual(
        recomputeStandings(matches, ["P01", "P02", "P03", "P04"]),
      );
      for (const row of standings) expect(row.display_name).toBe(`Player${Number(row.player_id.slice(1))}`);
    }
  });

  it("assigns the roles to each player equally often, with a difference of at most one match", () => {
    for (const { matches } of documentOf(first).leagues) {
      for (const id of ["P01", "P02", "P03", "P04"]) {
        const roles = matches.flatMap((match) =>
          Object.entries(match.roles).flatMap(([role, player]) => (player === id ? role : [])),
        );
        const firstRoleCount = roles.filter((role) => role === roles[0]).length;
        expect(Math.abs(2 * firstRoleCount - roles.length)).toBeLessThanOrEqual(1);
      }
    }
  });

  it("stores logs that replay to the recorded results", async () => {
    const [folder = ""] = runFolders(test);
    const { leagues } = await storedState(
      folder,
      documentOf(first).leagues.map(({ league_id }) => league_id),
    );
    const stored = [...leagues.values()].flatMap(({ leagueId, rounds }) =>
      rounds.flatMap((round) => round.matches.map((match) => ({ leagueId, ...match }))),
    );
    const matches = new Map(
      documentOf(first).leagues.flatMap((league) =>
        league.matches.map((match) => [`${league.league_id}/${match.match_id}`, match] as const),
      ),
    );
    expect(stored.map((row) => `${row.leagueId}/${row.matchId}`).sort()).toEqual([...matches.keys()].sort());
    for (const row of stored) {
      const { log, seed } = await sessionLog(folder, row.leagueId, row.matchId);
      const replayed = replayTexts(log, seed);
      if (!replayed.ok) throw new Error(`${row.matchId}: ${replayed.error.message}`);
      const verdict = verdictOf(replayed.value.session);
      const match = matches.get(`${row.leagueId}/${row.matchId}`);
      if (!match) throw new Error("the document does not contain the match");
      const byPlayer = Object.fromEntries(Object.entries(verdict.points).map(([role, n]) => [match.roles[role], n]));
      const winner = verdict.winner === null ? null : match.roles[verdict.winner];
      const expected = { points: byPlayer, winner, termination: verdict.termination, reason: verdict.reason };
      expect(match).toMatchObject(expected);
      expect(summaryOf(row)).toMatchObject({ match_points: byPlayer, winner, termination: verdict.termination });
      expect(row.logHead).toBe(replayed.value.head);
    }
  });

  it("stores each match with one referee, in a log that replays", () => {
    const [folder = ""] = runFolders(test);
    const files = readdirSync(folder).filter((name) => /^referee-\d+\.sqlite$/.test(name));
    expect(files).toHaveLength(2);
    let sessions = 0;
    for (const file of files) {
      const db = new DatabaseSync(join(folder, file), { readOnly: true });
      for (const { session_id, seed } of db.prepare("SELECT session_id, seed FROM sessions").all()) {
        const query = "SELECT session_id AS stream, * FROM entries WHERE session_id = ? ORDER BY seq";
        const replayed = replay(db.prepare(query).all(session_id ?? "") as unknown as RecordedEvent[], String(seed));
        if (!replayed.ok) throw new Error(replayed.error.message);
        expect(replayed.value.status).toBe("completed");
        sessions++;
      }
      db.close();
    }
    expect(sessions).toBe(18);
  });

  it("repeats its results with the same seed and not with another seed", async () => {
    const repeated = await league(["run", test.file, "--json", "--seed", "7", "--quiet"]);
    expect(documentOf(repeated)).toEqual(documentOf(first));
    expect(repeated.stderr).toBe("");
    const otherSeed = documentOf(await league(["run", test.file, "--json", "--seed", "8", "--quiet"]));
    expect(otherSeed).not.toEqual(documentOf(first));
  });
});

describe("the output of league run", () => {
  afterEach(cleanUp);
  const SMALL = [
    { league_id: "even-odd", game: "even_odd.v1" },
    { league_id: "draw", game: "even_odd.v1", options: { variant: "draw" } },
    { league_id: "rps", game: "rps.v1" },
  ];

  it("is a table for each league on stdout and progress in plain lines on stderr", async () => {
    const test = await testLeague(["random", "cycle"], SMALL);
    const { code, stdout, stderr } = await league(["run", test.file, "--seed", "1"]);
    expect(code, stderr).toBe(0);
    const tables = stdout.trimEnd().split("\n\n");
    expect(tables.map((table) => table.split("\n", 1)[0])).toEqual([
      "even-odd (even_odd.v1)",
      "draw (even_odd.v1)",
      "rps (rps.v1)",
    ]);
    for (const table of tables) {
      expect(table).toMatch(/#\s+Player\s+Played\s+Won\s+Drawn\s+Lost\s+Points\s+Rating\s+±/);
      expect(table.match(/^\s+[12]\s+Player[12]\s+P0[12](\s+\d+){7}$/gm)).toHaveLength(2);
      expect(table).toMatch(
        /^ {2}ratings, not significant yet: Player[12] (above Player[12] \(\d+%\)|and Player[12] are equal)$/m,
      );
    }
    for (const { league_id } of SMALL)
      expect(stderr).toMatch(new RegExp(`^${league_id} R1M1 \\(Player1 .*\\[1/1\\]$`, "m"));
    expect(stdout + stderr).not.toContain("\x1b");
  });

  it("contains no progress with --quiet", async () => {
    const test = await testLeague(["random", "cycle"], SMALL.slice(2));
    const { code, stdout, stderr } = await league(["run", test.file, "--quiet"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("rps (rps.v1)");
  });
});

describe("the league command", () => {
  afterEach(cleanUp);

  const operatorCommands = ["start", "schedule", "remove", "reset-token"];
  const commands = ["", "run", "serve", "join", "play", "codenames", "export", "ratings", "verify", "mcp"];
  it.each([...commands, ...operatorCommands])(
    "prints one line of purpose and examples for league %s --help",
    async (command) => {
      const { code, stdout, stderr } = await league([...command.split(" ").filter(Boolean), "--help"]);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(stdout).toContain(`Usage: league ${command}`);
      expect(stdout).toMatch(/^Usage: .*\n\n[A-Z].*\.\n\n/);
      expect(stdout).toMatch(new RegExp(`^Examples:\\n {2}npm (start|run .*${command})`, "m"));
    },
  );

  it.each([
    "run --no-such-option",
    "--no-such-option",
    "no-such-command",
    "run a.json b.json",
    "serve --players none",
    "join random --port 70000",
    "play random",
  ])("exits with 2 after wrong usage: league %s", async (args) => {
    const { code, stdout, stderr } = await league(args.split(" "));
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/^error: /m);
  });
});
