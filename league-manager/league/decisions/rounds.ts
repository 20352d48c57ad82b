import { err, ok } from "#shared/lib/result.ts";
import { protocolError } from "#shared/protocol/errors.ts";
import type { NewLeagueEvent } from "../commands.ts";
import { type League, type Match, roundOf } from "../league.ts";
import { forfeitOf, REMOVED, SHUT_DOWN } from "../outcome.ts";
import {
  type CommandOf,
  cancellationsOf,
  type Decided,
  PAUSED,
  rejectLeague,
  rejectState,
  UNCHANGED,
} from "./decision.ts";

/** Opens the current round, and forfeits its matches with players that are shut down. */
export function decideOpenRound(league: League, command: CommandOf<"open_round">): Decided {
  const { roundId, shutDown, removed = new Set() } = command;
  const round = roundOf(league, roundId);
  if (!round) return rejectRound(league, roundId);
  if (round.isOpened) return UNCHANGED;
  if (league.isPaused) return rejectState(league, PAUSED);
  if (roundId !== league.currentRound) return rejectState(league, `round ${roundId} is not the current one`);
  const players = [...new Set(round.matches.flatMap((match) => match.players))];
  const absent = players.flatMap((player_id) => {
    const agent_version = shutDown.get(player_id);
    return agent_version === undefined
      ? []
      : [{ player_id, agent_version, ...(removed.has(player_id) && { removed: true as const }) }];
  });
  const forfeits = round.matches.filter(
    ({ status, players: seated }) => status !== "completed" && seated.some((playerId) => shutDown.has(playerId)),
  );
  return ok([
    { type: "round_opened", round_id: roundId, absent },
    ...forfeits.map((match) => forfeitEvent(league, match, command)),
  ]);
}

function forfeitEvent(
  league: League,
  match: Match,
  { shutDown, removed = new Set() }: CommandOf<"open_round">,
): NewLeagueEvent {
  const absent = match.players.filter((playerId) => shutDown.has(playerId));
  const detailOf = (playerId: string): string =>
    removed.has(playerId) ? "the operator removed the player" : "the player is shut down";
  return {
    type: "match_completed",
    match_id: match.matchId,
    epoch: match.epoch,
    referee_id: null,
    ...forfeitOf(league, match.players, absent, detailOf),
    termination: "forfeit",
    reason: absent.every((playerId) => removed.has(playerId)) ? REMOVED : SHUT_DOWN,
    log_head: "",
  };
}

const rejectRound = ({ leagueId: league_id }: League, roundId: number): Decided =>
  err(protocolError("G003", `league ${league_id} has no round ${roundId}`, { league_id, round_id: roundId }));

/** Records that a round is announced to the players. */
export function decideAnnounceRound(league: League, roundId: number): Decided {
  const round = roundOf(league, roundId);
  if (!round) return rejectRound(league, roundId);
  if (round.isAnnounced) return UNCHANGED;
  if (!round.isOpened) return rejectState(league, `round ${roundId} is not opened`);
  return ok([{ type: "round_announced", round_id: roundId }]);
}

/** Ends a round whose time is over: its matches that are not completed are cancelled, and count for no player. */
export function decideExpireRound(league: League, { roundId }: CommandOf<"expire_round">): Decided {
  const round = roundOf(league, roundId);
  if (!round?.isOpened || round.isExpired || round.open === 0 || league.roundMs === null) return UNCHANGED;
  if (league.isPaused) return rejectLeague(league, "is paused");
  return ok([{ type: "round_expired", round_id: roundId }, ...cancellationsOf(round.matches)]);
}
