import { follows } from "#shared/lib/result.ts";
import type { EventOf } from "./events.ts";
import { type League, type Match, type Round, roundOf } from "./league.ts";
import { matchIdOf } from "./match-ids.ts";

/** Returns the fields of the league that the pairing, opening, announcement or extension of a round changes. Throws if the event cannot follow. */
export function changedRounds(
  league: League,
  event: EventOf<"round_paired" | "round_opened" | "round_expired" | "round_announced" | "match_scheduled">,
): Partial<League> {
  const { rounds, currentRound, openRounds, matchCount } = league;
  const { round_id } = event;
  const round = roundOf({ rounds }, round_id);
  switch (event.type) {
    case "round_paired": {
      const paired = pairedRound(league, event);
      const hasMatches = paired.matches.length > 0;
      return {
        rounds: rounds.append(paired),
        currentRound: currentRound ?? (hasMatches ? round_id : null),
        ...(paired.isOpened && hasMatches && { openRounds: [...openRounds, round_id] }),
        matchCount: matchCount + paired.matches.length,
      };
    }
    case "round_opened": {
      follows(
        round && round_id === currentRound && !round.isOpened && !league.isPaused,
        `round ${round_id} cannot be opened now`,
      );
      const { matches } = round;
      const plays = (playerId: string): boolean => matches.some((match) => match.players.includes(playerId));
      follows(
        event.absent.every(({ player_id }) => plays(player_id)),
        `an absent player of round ${round_id} has no match`,
      );
      return {
        rounds: rounds.with(round_id - 1, { ...round, isOpened: true, openedAt: event.at }),
        openRounds: [...openRounds, round_id],
      };
    }
    case "round_expired":
      follows(
        league.roundMs !== null && round?.isOpened && round.open > 0 && !round.isExpired,
        `round ${round_id} cannot expire now`,
      );
      return { rounds: rounds.with(round_id - 1, { ...round, isExpired: true }) };
    case "round_announced":
      follows(round?.isOpened && !round.isAnnounced, `round ${round_id} cannot be announced now`);
      return { rounds: rounds.with(round_id - 1, { ...round, isAnnounced: true }) };
    case "match_scheduled": {
      follows(
        currentRound !== null && round_id >= currentRound,
        `${event.match_id} is scheduled in a round that is over`,
      );
      follows(round_id <= rounds.length + 1, `there is no round ${round_id}`);
      const before = round ?? emptyRound(round_id);
      const added = newMatch(league, round_id, before.matches.length, event);
      const after = { ...before, matches: [...before.matches, added], open: before.open + 1 };
      return { rounds: round ? rounds.with(round_id - 1, after) : rounds.append(after), matchCount: matchCount + 1 };
    }
  }
}

const emptyRound = (roundId: number): Round => ({
  roundId,
  label: null,
  matches: [],
  byes: [],
  open: 0,
  isOpened: false,
  isAnnounced: false,
  openedAt: null,
  isExpired: false,
});

function pairedRound(league: League, event: EventOf<"round_paired">): Round {
  const { round_id, pairings, byes, label, slots } = event;
  follows(league.status === "running", `round ${round_id} is paired while the league is not running`);
  follows(!league.isPairingComplete, `round ${round_id} is paired after the end of the format`);
  follows(round_id === league.rounds.length + 1, `round ${round_id} is paired after round ${league.rounds.length}`);
  const matches = pairings.map((pairing, index) => newMatch(league, round_id, index, pairing));
  checkPlayers(round_id, matches, byes);
  follows(
    byes.every((playerId) => league.entrants.has(playerId)),
    `a player with a bye in round ${round_id} is not a player of the league`,
  );
  return {
    ...emptyRound(round_id),
    label: label ?? null,
    matches,
    byes,
    open: matches.length,
    isOpened: slots !== undefined,
    openedAt: slots === undefined ? null : event.at,
  };
}

/** Throws if a player with a bye has a match in the round, or a player has matches with different players. The legs of a pairing have the same players. */
function checkPlayers(roundId: number, matches: readonly Match[], byes: readonly string[]): void {
  const pairings = new Map<string, readonly string[]>();
  const list = (playerId: string, pairing: readonly string[]): void => {
    const earlier = pairings.get(playerId);
    const isListed = earlier !== undefined && !pairing.every((id) => earlier.includes(id));
    follows(!isListed, `a player is listed twice in round ${roundId}`);
    pairings.set(playerId, pairing);
  };
  for (const playerId of byes) list(playerId, []);
  follows(pairings.size === byes.length, `a player is listed twice in round ${roundId}`);
  for (const { players } of matches) for (const playerId of players) list(playerId, players);
}

interface NewMatch {
  readonly match_id: string;
  readonly players: readonly string[];
  readonly options?: Match["options"] | undefined;
}

function newMatch(
  { roles, entrants }: League,
  roundId: number,
  index: number,
  { match_id, players, options = null }: NewMatch,
): Match {
  follows(match_id === matchIdOf(roundId, index), `${match_id} is not the next match of round ${roundId}`);
  follows(
    players.length === roles.length && players.every((playerId, seat) => players.indexOf(playerId) === seat),
    `${match_id} needs ${roles.length} players`,
  );
  const unknownPlayer = players.find((playerId) => !entrants.has(playerId));
  follows(unknownPlayer === undefined, `${unknownPlayer} is not a player of the league`);
  return {
    matchId: match_id,
    roundId,
    players,
    options,
    status: "scheduled",
    epoch: 1,
    refereeId: null,
    assignedAt: null,
    aborts: 0,
    lastRelease: null,
    outcome: null,
    logHead: null,
  };
}
