import { err } from "#shared/lib/result.ts";
import { protocolError } from "#shared/protocol/errors.ts";
import type { LeagueSettings } from "../league/commands.ts";
import type { Decide, ManagerState } from "../ledger.ts";
import { activateReferee } from "./activate-referee.ts";
import { Draft } from "./draft.ts";

/** Opens the leagues that are new in the config, and reconfigures open leagues whose config has changed. Executed at the start of the manager. */
export const openLeagues =
  (leagues: readonly LeagueSettings[]): Decide<null> =>
  (state, at) => {
    const draft = new Draft(state, at);
    for (const settings of leagues) {
      const opened = draft.league(settings.leagueId, { type: "open", settings });
      if (!opened.ok) return opened;
    }
    return draft.decision(null);
  };

/**
 * Closes the registration of a league, pairs its first rounds, and activates its players and all referees. `seed` is the seed of the league. Replies
 * with the number of matches that are paired.
 */
export const startLeague =
  (leagueId: string, seed: string): Decide<{ readonly matches: number }> =>
  (state, at) => {
    const draft = new Draft(state, at);
    const started = draft.league(leagueId, { type: "start", seed });
    if (!started.ok) return started;
    const referees = refereesOf(state);
    if (referees.length === 0) return err(protocolError("L001", "no referee is registered yet", {}, true));
    const entrants = state.leagues.get(leagueId)?.entrants ?? new Map<string, string>();
    const players = [...entrants.keys()].filter((id) => state.agents.has(id));
    for (const id of players) draft.agent(id, { type: "activate" });
    for (const id of referees) activateReferee(draft, id);
    const rounds = started.value.map((event) => (event.type === "round_paired" ? event.pairings.length : 0));
    return draft.decision({ matches: rounds.reduce((sum, matches) => sum + matches, 0) });
  };

/**
 * Pairs the next rounds of a league. `seed` is the seed of the league, `slots` the number of matches that can be started now. Without a new round it
 * has no events.
 */
export const pairLeague =
  (leagueId: string, seed: string, slots: number): Decide<null> =>
  (state, at) => {
    const draft = new Draft(state, at);
    const paired = draft.league(leagueId, { type: "pair", seed, slots });
    return paired.ok ? draft.decision(null) : paired;
  };

/**
 * Ends a league whose matches are completed. Players are dismissed when all their leagues are over, referees when all leagues are over. This
 * includes the leagues that the config no longer lists, because they continue when it lists them again.
 */
export const completeLeague =
  (leagueId: string): Decide<null> =>
  (state, at) => {
    const draft = new Draft(state, at);
    const completed = draft.league(leagueId, { type: "complete" });
    if (!completed.ok) return completed;
    const { leagues, formerLeagues } = draft.state;
    const unfinished = [...leagues.values(), ...formerLeagues].filter(({ status }) => status !== "completed");
    const entrants = state.leagues.get(leagueId)?.entrants ?? new Map<string, string>();
    const players = [...entrants.keys()].filter(
      (id) => state.agents.has(id) && !unfinished.some((league) => league.entrants.has(id)),
    );
    const referees = unfinished.length === 0 ? refereesOf(state) : [];
    for (const id of [...players, ...referees]) draft.agent(id, { type: "dismiss" });
    return draft.decision(null);
  };

const refereesOf = ({ agents }: ManagerState): readonly string[] =>
  [...agents.values()].filter(({ kind }) => kind === "referee").map(({ id }) => id);
