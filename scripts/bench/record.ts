import { findGame } from "#shared/games/registry.ts";
import { systemClock } from "#shared/lib/clock.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import type { MatchResult, StartGame } from "#shared/protocol/messages.ts";
import { outcomeOf, participantsOf } from "#shared/session/match-result.ts";
import { act, playSession } from "#shared/session/testing/play.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { localWriter } from "#shared/store/writer.ts";
import { LEAGUE_FORMAT_VERSION, leagueStream } from "../../league-manager/league/events.ts";
import type { Match, NewLeagueEvent, Round } from "../../league-manager/league/league.ts";
import { loadState } from "../../league-manager/store/manager-state.ts";
import { MANAGER_SCHEMA, managerStore } from "../../league-manager/store/manager-store.ts";

const REFEREE = "REF01";

/** Plays the match of an order, in which the first player wins with rock against scissors. Returns its result. */
export function resultOf({
  league_id,
  round_id,
  match_id,
  epoch,
  game: id,
  options: given,
  roles,
  seed,
}: StartGame): MatchResult {
  const game = findGame(id);
  if (!game) throw new Error(`unknown game ${id}`);
  const players = Object.fromEntries(Object.entries(roles).map(([role, seat]) => [role, seat.player_id]));
  const options = game.options.parse(given);
  const participants = participantsOf({ league_id, match_id, roles: players });
  const setup = { id: match_id, game, options, participants, seed, at: systemClock.iso() };
  const { session, log, head } = playSession(setup, [act("player_1", "rock"), act("player_2", "scissors")]);
  return {
    league_id,
    round_id,
    match_id,
    epoch,
    ...outcomeOf(session, head, players),
    log,
  };
}

/**
 * Completes the first `count` rounds of a running league in the file of a stopped manager. The matches get no session logs. Returns the number of
 * completed matches.
 */
export async function recordRounds(file: string, leagueId: string, count: number): Promise<number> {
  const db = openSqlite(file, MANAGER_SCHEMA);
  const store = managerStore(db, localWriter(db, systemClock));
  const league = (await loadState(store, [leagueId])).state.leagues.get(leagueId);
  if (!league) throw new Error(`${leagueId} is not in ${file}`);
  let { version: expectedVersion } = league;
  const at = systemClock.iso();
  const rounds = league.rounds.slice(0, count);
  for (const round of rounds) {
    const events = eventsOf(round).map((event) => ({
      type: event.type,
      body: JSON.stringify({ v: LEAGUE_FORMAT_VERSION, at, ...event }),
    }));
    await store.commit([{ stream: leagueStream(leagueId), expectedVersion, events }], [], at);
    expectedVersion += events.length;
  }
  await store.close();
  db.close();
  return rounds.reduce((sum, { matches }) => sum + matches.length, 0);
}

const eventsOf = ({ roundId: round_id, isOpened, isAnnounced, matches }: Round): readonly NewLeagueEvent[] => [
  ...(isOpened ? [] : [{ type: "round_opened", round_id, absent: [] } as const]),
  ...matches.flatMap(completionOf),
  ...(isAnnounced ? [] : [{ type: "round_announced", round_id } as const]),
];

/** Returns the events that complete a match. The first player wins. */
function completionOf({ matchId: match_id, epoch, status, players }: Match): readonly NewLeagueEvent[] {
  const [winner = "", loser = ""] = players;
  const matchFields = { match_id, epoch, referee_id: REFEREE };
  return [
    ...(status === "scheduled" ? [{ type: "match_assigned", ...matchFields } as const] : []),
    {
      ...{ type: "match_completed", ...matchFields, winner, termination: "normal", reason: "rounds_won", faults: [] },
      final_scores: { [winner]: 1, [loser]: 0 },
      match_points: { [winner]: 3, [loser]: 0 },
      log_head: sha256Hex(match_id),
    },
  ];
}
