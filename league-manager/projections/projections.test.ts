import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { roundRobin } from "#shared/formats/round-robin.ts";
import { playerId } from "#shared/lib/ids.ts";
import { ok } from "#shared/lib/result.ts";
import { createRandom } from "#shared/lib/rng.ts";
import { type League, type Match, type NewLeagueEvent, numbered, roundOf } from "../league/league.ts";
import { standingsOf } from "../league/standings-of.ts";
import type { Decide } from "../ledger.ts";
import { ledgerOn, opened, profile, registered } from "../store/testing/ledger.ts";
import { createProjections } from "./projections.ts";

/** The possible ends of a match of two players. */
const ENDS = [
  { termination: "normal", points: [3, 0] },
  { termination: "normal", points: [1, 1] },
  { termination: "forfeit", points: [0, 3] },
  { termination: "forfeit", points: [0, 0] },
  { termination: "aborted", points: [] },
] as const;

function eventsOf({ matchId: match_id, players }: Match, end: (typeof ENDS)[number]): readonly NewLeagueEvent[] {
  const identifiers = { match_id, epoch: 1, referee_id: "REF01" };
  const assigned = { type: "match_assigned", ...identifiers } as const;
  if (end.termination === "aborted") {
    return [assigned, { type: "match_aborted", ...identifiers, reason: "any", log_head: "" }];
  }
  const match_points = Object.fromEntries(end.points.map((point, seat) => [players[seat] ?? "", point]));
  const winner = players.find((id) => match_points[id] === 3) ?? null;
  const details = { final_scores: {}, faults: [], reason: "any", log_head: "" };
  return [
    assigned,
    { type: "match_completed", ...identifiers, ...details, winner, match_points, termination: end.termination },
  ];
}

const append =
  (...events: readonly NewLeagueEvent[]): Decide<null> =>
  () =>
    ok({ leagueEvents: events.map((event) => ({ leagueId: "first", event })), reply: null });

/** Creates a ledger with a running league of `count` registered players whose rounds are paired. */
async function ledgerWithLeague(count: number, tie_breaks?: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), "projections-"));
  const { ledger, db } = await ledgerOn(join(folder, "league-manager.sqlite"));
  onTestFinished(() => {
    db.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const players = Array.from({ length: count }, (_, index) => playerId(index + 1));
  const register: Decide<null> = () =>
    ok({
      agentEvents: players.map((id) => ({ agentId: id, event: registered(id) })),
      writes: players.map((id) => profile(id, `name of ${id}`)),
      reply: null,
    });
  await ledger.execute(register);
  const rounds = numbered(roundRobin(players, 2)).map((round): NewLeagueEvent => ({ type: "round_paired", ...round }));
  const entries = players.map(
    (player_id): NewLeagueEvent => ({ type: "player_entered", player_id, name_commitment: "" }),
  );
  await ledger.execute(
    append(
      { ...opened("first"), ...(tie_breaks && { tie_breaks }) } as NewLeagueEvent,
      ...entries,
      { type: "started" },
      ...rounds,
    ),
  );
  return ledger;
}

/** The standings computed from all recorded matches. */
const folded = (league: League) =>
  standingsOf(
    league,
    [...league.entrants.keys()].map((player_id) => ({ player_id, display_name: `name of ${player_id}` })),
  );

test.each(["a", "b", "c", "d", "e"])(
  "standings and counts that advance with events equal those of all matches: seed %s",
  async (seed) => {
    const random = createRandom(seed);
    const ledger = await ledgerWithLeague(random.int(2, 9));
    const projections = createProjections(ledger);
    ledger.onCommit((commit) => {
      for (const committed of commit.events) projections.advance(committed, commit);
    });
    const league = (): League => ledger.state.leagues.get("first") as League;
    while (league().currentRound !== null) {
      const round = roundOf(league(), league().currentRound ?? 1);
      const opening = round?.isOpened
        ? []
        : [{ type: "round_opened", round_id: round?.roundId ?? 1, absent: [] } as const];
      const open = round?.matches.filter(({ outcome }) => outcome === null) ?? [];
      const finished = open.slice(0, random.int(1, open.length));
      await ledger.execute(append(...opening, ...finished.flatMap((match) => eventsOf(match, random.pick(ENDS)))));
      const shown = [projections.standings(league()), projections.completed("first")];
      expect(shown).toEqual([folded(league()), league().completedCount]);
      const restarted = createProjections(ledger);
      expect([restarted.standings(league()), restarted.completed("first")]).toEqual(shown);
    }
  },
);

test("standings are the same array until a result, an entry or a bye changes them", async () => {
  const ledger = await ledgerWithLeague(4);
  const projections = createProjections(ledger);
  ledger.onCommit((commit) => {
    for (const committed of commit.events) projections.advance(committed, commit);
  });
  const league = (): League => ledger.state.leagues.get("first") as League;
  const before = projections.standings(league());
  await ledger.execute(append({ type: "round_opened", round_id: 1, absent: [] }));
  expect(projections.standings(league())).toBe(before);
  await ledger.execute(append(...eventsOf(league().rounds.at(0)?.matches[0] as Match, ENDS[0])));
  expect(projections.standings(league())).not.toBe(before);
});

test("a bye is counted when its round is opened", async () => {
  const ledger = await ledgerWithLeague(3);
  const projections = createProjections(ledger);
  ledger.onCommit((commit) => {
    for (const committed of commit.events) projections.advance(committed, commit);
  });
  const league = (): League => ledger.state.leagues.get("first") as League;
  expect(projections.standings(league()).map(({ byes }) => byes)).toEqual([undefined, undefined, undefined]);
  await ledger.execute(append({ type: "round_opened", round_id: 1, absent: [] }));
  const withBye = projections.standings(league()).filter(({ byes }) => byes === 1);
  expect(withBye.map(({ player_id }) => player_id)).toEqual(league().rounds.at(0)?.byes);
});

test("the standings show the id of a player whose name is erased, which has no event", async () => {
  const ledger = await ledgerWithLeague(3);
  const { standings } = createProjections(ledger);
  const rows = () => standings(ledger.state.leagues.get("first") as League);
  const before = rows();
  expect(before.map(({ display_name }) => display_name)).toEqual(["name of P01", "name of P02", "name of P03"]);
  await ledger.execute(() => ok({ writes: [profile("P03", "name of P03")], reply: null }));
  expect(rows()).toBe(before);
  await ledger.execute(() => ok({ writes: [{ type: "erase_profile", agentId: "P02" }], reply: null }));
  expect(rows().map(({ display_name }) => display_name)).toEqual(["name of P01", "P02", "name of P03"]);
});

test.each([
  [8, true],
  [70, false],
])("the live standings of %i players have further tie-breaks: %s", async (count, hasTieBreaks) => {
  const ledger = await ledgerWithLeague(count, ["points", "sonneborn-berger"]);
  const projections = createProjections(ledger);
  const league = ledger.state.leagues.get("first") as League;
  expect(projections.standings(league)[0]).toHaveProperty("tie_breaks", { "sonneborn-berger": 0 });
  expect(projections.liveStandings(league)).toHaveLength(count);
  expect("tie_breaks" in (projections.liveStandings(league)[0] ?? {})).toBe(hasTieBreaks);
});
