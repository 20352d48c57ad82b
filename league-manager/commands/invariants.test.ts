import fc from "fast-check";
import { expect, it } from "vitest";
import { endpointKey } from "#shared/protocol/addresses.ts";
import type { Place } from "../agents/places.ts";
import { roundOf } from "../league/league.ts";
import type { Decide, Decision, ManagerState } from "../ledger.ts";
import { forgetPlayer, recoverPlayer, removePlayer, resetToken } from "./agent-commands.ts";
import { completeLeague, openLeagues, openRound, pairLeague, startLeague } from "./league-commands.ts";
import { assignMatch, releaseMatch, reportResult } from "./match-commands.ts";
import { AT, applied, EMPTY_STATE, POLICY, player, referee, settingsOf, tokenOf } from "./testing/commands.ts";
import { aborted, lost, SEED, won } from "./testing/results.ts";

const PLACE: Place = { id: "P02", kind: "player", name: "B", endpoint: null, startedByRun: null };
const policy = { ...POLICY, places: [PLACE], maxPlayers: new Map([["rps", 4]]) };
const leagues = ["rps", "b", "c"];
/** The leagues "b" and "c" accept players after their start. */
const settings = leagues.map((id) =>
  id !== "rps" ? { ...settingsOf(id), formatOptions: { makeup: true }, lateEntry: "makeup" as const } : settingsOf(id),
);

const name = fc.constantFrom("A", "B", "C", "D", "E");
const port = fc.integer({ min: 1, max: 5 });
const league = fc.constantFrom(...leagues);
const playerId = fc.constantFrom("P01", "P02", "P03", "P04", "P05");
const refereeId = fc.constantFrom("REF01", "REF02");
const presence = fc
  .subarray(["P01", "P02", "P03", "P04", "P05"])
  .map((ids) => ({ departed: new Set(ids), present: new Set<string>() }));

/** Creates a command for the current state, so that most commands name matches that can be assigned or reported. */
type Step = (state: ManagerState) => Decide<unknown>;
const fixed =
  (command: Decide<unknown>): Step =>
  () =>
    command;

/** Assigns, releases or reports the first open match of a league; opens the round or completes the league if that comes first. */
const advanceLeague =
  (leagueId: string, action: "won" | "lost" | "aborted" | "release", referee: string): Step =>
  (state) => {
    const league = state.leagues.get(leagueId);
    const round = roundOf(league, league?.currentRound ?? 0);
    if (!round) return league?.isPairingComplete ? completeLeague(leagueId) : pairLeague(leagueId, "seed", 0);
    if (!round.isOpened) return openRound(leagueId, round.roundId);
    const match = round.matches.find(({ status }) => status !== "completed");
    if (!match) return completeLeague(leagueId);
    const { matchId, epoch, players, refereeId } = match;
    if (refereeId === null) return assignMatch({ leagueId, matchId, epoch, refereeId: referee });
    if (action === "release")
      return releaseMatch({ leagueId, matchId, epoch, reason: "unreachable", detail: "silent" });
    const pairing = { leagueId, matchId, epoch, players: [players[0] as string, players[1] as string] as const };
    return reportResult({ won, lost, aborted }[action](pairing), refereeId, SEED);
  };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .record(
        { name, port, presence, league_ids: fc.subarray(leagues, { minLength: 1 }) },
        { requiredKeys: ["name", "port", "presence"] },
      )
      .map(({ name, ...more }) => fixed(player(name, more, policy))),
  },
  {
    weight: 1,
    arbitrary: fc
      .record({ name, port, owner: name })
      .map(({ name, port, owner }) => fixed(player(name, { port, token: tokenOf(owner) }, policy))),
  },
  {
    weight: 1,
    arbitrary: fc
      .record({ name, port })
      .map(({ name, port }) => fixed(referee(name, { port, token: tokenOf(`R ${name}`) }, policy))),
  },
  { weight: 1, arbitrary: playerId.map((id) => fixed(removePlayer(id))) },
  { weight: 1, arbitrary: playerId.map((id) => fixed(forgetPlayer(id))) },
  { weight: 1, arbitrary: playerId.map((id) => fixed(recoverPlayer(id))) },
  { weight: 1, arbitrary: playerId.map((id) => fixed(resetToken(id, tokenOf(`reset ${id}`), []))) },
  { weight: 2, arbitrary: league.map((id) => fixed(startLeague(id, "seed"))) },
  {
    weight: 30,
    arbitrary: fc
      .tuple(league, fc.constantFrom("won", "lost", "lost", "aborted", "release"), refereeId)
      .map((parameters) => advanceLeague(...parameters)),
  },
);

const isUnique = (values: readonly string[]): boolean => new Set(values).size === values.length;

function checkState({ agents, leagues }: ManagerState): void {
  for (const kind of ["player", "referee"]) {
    const ofKind = [...agents.values()].filter((agent) => agent.kind === kind);
    expect(isUnique(ofKind.map((agent) => agent.name))).toBe(true);
    expect(
      isUnique(
        ofKind.filter(({ endpoint }) => endpoint !== "").map(({ endpoint }) => endpointKey(endpoint, new Set())),
      ),
    ).toBe(true);
  }
  const hashes = [...agents.values()].map(({ tokenHash }) => tokenHash);
  // An erased player has no token.
  expect(isUnique(hashes.filter((hash) => hash !== ""))).toBe(true);
  for (const { status, entrants, leagueId } of leagues.values()) {
    expect([...entrants.keys()].every((id) => agents.has(id))).toBe(true);
    if (leagueId === "rps") expect(entrants.size).toBeLessThanOrEqual(4);
    if (status !== "open") continue;
    // An open league has only players that can be reached.
    expect([...entrants.keys()].filter((id) => agents.get(id)?.endpoint === "")).toEqual([]);
  }
}

/**
 * Checks that an agent leaves SHUTDOWN only by `renewed` and in no league that was already running, that only the id of a place is used again, and
 * that a player plays in a running league that it enters.
 */
function checkChange(
  before: ManagerState,
  { agentEvents = [] }: Decision<unknown>,
  after: ManagerState,
  ids: Set<string>,
): void {
  for (const { agentId, event } of agentEvents) {
    if (event.type !== "registered") continue;
    expect(ids.has(agentId) && agentId !== PLACE.id).toBe(false);
    ids.add(agentId);
  }
  for (const agent of before.agents.values()) {
    const nextState = after.agents.get(agent.id)?.state;
    if (agent.state !== "SHUTDOWN" || nextState === undefined || nextState === "SHUTDOWN") continue;
    expect(agentEvents.map(({ agentId, event }) => `${agentId} ${event.type}`)).toContain(`${agent.id} renewed`);
    const running = [...before.leagues.values()].filter(({ status }) => status === "running");
    if (agent.kind === "player") expect(running.some(({ entrants }) => entrants.has(agent.id))).toBe(false);
  }
  for (const { leagueId, status, entrants } of after.leagues.values()) {
    const earlier = before.leagues.get(leagueId);
    if (status !== "running" || earlier?.status !== "running") continue;
    const late = [...entrants.keys()].filter((id) => !earlier.entrants.has(id));
    expect(late.filter((id) => after.agents.get(id)?.state !== "ACTIVE")).toEqual([]);
  }
}

it("every sequence of commands keeps the invariants of names, endpoints, tokens, ids, entries and states", () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(fc.array(step, { minLength: 100, maxLength: 300, size: "max" }), (steps) => {
      const ids = new Set<string>();
      let state = EMPTY_STATE;
      for (const make of [() => openLeagues(settings), ...steps]) {
        const decided = make(state)(state, AT);
        if (!decided.ok) continue;
        const after = applied(state, decided.value);
        checkChange(state, decided.value, after, ids);
        checkState(after);
        for (const { event } of decided.value.agentEvents ?? []) seen.add(event.type);
        state = after;
      }
    }),
    { numRuns: 60, seed: 1 },
  );
  // The sequences cause every type of event of an agent.
  expect([...seen].sort()).toEqual([
    "activated",
    "answered",
    "dismissed",
    "endpoint_lost",
    "erased",
    "forgotten",
    "recovered",
    "registered",
    "removed",
    "renewed",
    "returned",
    "timed_out",
    "token_reset",
  ]);
});
