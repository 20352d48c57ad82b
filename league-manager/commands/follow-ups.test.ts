import { describe, expect, it } from "vitest";
import type { League } from "../league/league.ts";
import { LEAGUE_SEED } from "../league/testing/leagues.ts";
import type { Decide, ManagerState } from "../ledger.ts";
import { leagueFollowUps, openLeagues, startLeague } from "./league-commands.ts";
import { assignMatch, reportResult } from "./match-commands.ts";
import { AT, applied, player, referee, settingsOf, stateAfter } from "./testing/commands.ts";
import { SEED, won } from "./testing/results.ts";

const followUps = leagueFollowUps(() => LEAGUE_SEED);

/** The state before and after the last command, and the events of its follow-ups, each decided on the state after the earlier ones. */
function following(before: ManagerState, last: Decide<unknown>) {
  let [was, state] = [before, stateAfter([last], before)];
  const events: string[] = [];
  for (let next = followUps(was, state); next.length > 0; next = followUps(was, state)) {
    was = state;
    for (const decide of next) {
      const decided = decide(state, AT);
      if (!decided.ok) throw new Error(decided.error.message);
      events.push(...(decided.value.leagueEvents ?? []).map(({ event }) => event.type));
      state = applied(state, decided.value);
    }
  }
  return { events, state };
}

const entered = (format: string, players: number, formatOptions = {}) =>
  stateAfter([
    openLeagues([{ ...settingsOf("rps"), format, formatOptions }]),
    ...Array.from({ length: players }, (_, n) => player(`player ${n + 1}`, { port: n + 1 })),
    referee("referee", { port: 9000 }),
  ]);

/** The result of the first player of a match, and the command that assigns the match before it. */
function resultIn(state: ManagerState, matchId: string): readonly [Decide<unknown>, Decide<unknown>] {
  const match = state.leagues
    .get("rps")
    ?.rounds.flatMap(({ matches }) => matches)
    .find((one) => one.matchId === matchId);
  const players = match?.players as [string, string];
  return [
    assignMatch({ leagueId: "rps", matchId, epoch: 1, refereeId: "REF01" }),
    reportResult(won({ matchId, players }), "REF01", SEED),
  ];
}

const start = startLeague("rps", LEAGUE_SEED);

describe("the follow-ups of a league", () => {
  it("open its first round when it starts, and the next round after the last result of a round", () => {
    let { state, events } = following(entered("round-robin", 4), start);
    expect(events).toEqual(["round_opened"]);
    const all = ["R1M1", "R1M2", "R2M1"].map((matchId) => {
      const [assign, report] = resultIn(state, matchId);
      ({ state, events } = following(stateAfter([assign], state), report));
      return events;
    });
    expect(all).toEqual([[], ["round_opened"], []]);
  });

  it("pair the next round of a Swiss system and open it after the last result, and end the pairing after the last round", () => {
    let { state, events } = following(entered("swiss", 2, { rounds: 1 }), start);
    expect(events).toEqual(["round_opened"]);
    const [assign, report] = resultIn(state, "R1M1");
    ({ state, events } = following(stateAfter([assign], state), report));
    expect([events, state.leagues.get("rps")?.isPairingComplete]).toEqual([["pairing_completed"], true]);
    const four = following(entered("swiss", 4, { rounds: 2 }), start).state;
    const before = stateAfter([...resultIn(four, "R1M1"), resultIn(four, "R1M2")[0]], four);
    expect(following(before, resultIn(four, "R1M2")[1]).events).toEqual(["round_paired", "round_opened"]);
  });

  it("pair nothing for a format that needs the number of free slots", () => {
    expect(following(entered("match", 2, { games: 4 }), start).events).toEqual([]);
  });

  it("leave the pairing of more than 400 players to a separate command", () => {
    const { state } = following(entered("swiss", 2, { rounds: 2 }), start);
    const paired = (players: number): number => {
      const entrants = new Map(Array.from({ length: players }, (_, n) => [`P${n}`, "commitment"]));
      const league = { ...(state.leagues.get("rps") as League), entrants, currentRound: null };
      return followUps(state, { ...state, leagues: new Map([["rps", league]]) }).length;
    };
    expect([paired(400), paired(401)]).toEqual([1, 0]);
  });

  it("are none for a change of another league or of an agent", () => {
    const state = stateAfter([start], entered("round-robin", 2));
    expect(followUps(entered("round-robin", 2), state)).toHaveLength(1);
    expect(followUps(state, { ...state, agents: new Map() })).toEqual([]);
    expect(followUps(state, { ...state, leagues: new Map(state.leagues) })).toEqual([]);
  });
});
