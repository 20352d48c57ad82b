import { follows } from "#shared/lib/result.ts";
import type { LeagueEvent } from "./events.ts";
import type { League, Match, Round } from "./league.ts";
import { matchIdOf } from "./match-ids.ts";

type EventOf<T extends LeagueEvent["type"]> = Extract<LeagueEvent, { type: T }>;

/** Returns the fields of the league that the pairing, opening, announcement or extension of a round changes. Throws if the event cannot follow. */
export function changedRounds(
  league: League,
  event: EventOf<"round_paired" | "round_opened" | "round_announced" | "match_scheduled">,
): Partial<League> {
  const { rounds, currentRound, matchCount } = league;
  const { round_id } = event;
  const round = rounds[round_id - 1];
  switch (event.type) {
    case "round_paired": {
      const paired = pairedRound(league, event);
      const hasMatches = paired.matches.length > 0;
      return {
        rounds: [...rounds, paired],
        currentRound: currentRound ?? (hasMatches ? round_id : null),
        matchCount: matchCount + paired.matches.length,
      };
    }
    case "round_opened": {
      follows(round && round_id === currentRound && !round.isOpened, `round ${round_id} cannot be opened now`);
      const { matches } = round;
      const plays = (playerId: string): boolean => matches.some((match) => match.players.includes(playerId));
      follows(
        event.absent.every(({ player_id }) => plays(player_id)),
        `an absent player of round ${round_id} has no match`,
      );
      return { rounds: rounds.with(round_id - 1, { ...round, isOpened: true }) };
    }
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
      return { rounds: round ? rounds.with(round_id - 1, after) : [...rounds, after], matchCount: matchCount + 1 };
    }
  }
}

const emptyRound = (roundId: number): Round => ({
  roundId,
  matches: [],
  byes: [],
  open: 0,
  isOpened: false,
  isAnnounced: false,
});

function pairedRound(league: League, { round_id, pairings, byes }: EventOf<"round_paired">): Round {
  follows(league.status === "running", `round ${round_id} is paired while the league is not running`);
  follows(round_id === league.rounds.length + 1, `round ${round_id} is paired after round ${league.rounds.length}`);
  const matches = pairings.map((pairing, index) => newMatch(league, round_id, index, pairing));
  const listed = new Set(byes);
  for (const { players } of matches) for (const playerId of players) listed.add(playerId);
  const entryCount = matches.length * league.roles.length + byes.length;
  follows(listed.size === entryCount, `a player is listed twice in round ${round_id}`);
  follows(
    byes.every((playerId) => league.entrants.has(playerId)),
    `a player with a bye in round ${round_id} is not a player of the league`,
  );
  return { ...emptyRound(round_id), matches, byes, open: matches.length };
}

function newMatch(
  { roles, entrants }: League,
  roundId: number,
  index: number,
  { match_id, players }: { readonly match_id: string; readonly players: readonly string[] },
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
    status: "scheduled",
    epoch: 1,
    refereeId: null,
    assignedAt: null,
    aborts: 0,
    outcome: null,
    logHead: null,
  };
}
