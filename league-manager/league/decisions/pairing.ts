import { err, ok } from "#shared/lib/result.ts";
import { protocolError } from "#shared/protocol/errors.ts";
import type { NewLeagueEvent } from "../commands.ts";
import { MAX_SLOTS } from "../events.ts";
import { canPair, formatOf, opensAtOnce, parsedOptions, viewOf, withPlayers } from "../format-view.ts";
import { currentMatches, type League } from "../league.ts";
import { numbered, type PairedRound } from "../match-ids.ts";
import type { Seed } from "../seeds.ts";
import { type CommandOf, cancellationsOf, type Decided } from "./decision.ts";

/** Closes the registration. The first rounds are paired in the same append, unless the format opens its rounds at once. */
export function decideStart(league: League, { seed }: CommandOf<"start">): Decided {
  const { leagueId: league_id, status, entrants, roles } = league;
  if (status !== "open") return err(protocolError("L005", `league ${league_id} is already ${status}`, { league_id }));
  if (entrants.size < roles.length) {
    const message = `league ${league_id} has ${entrants.size} of at least ${roles.length} players`;
    return err(protocolError("L001", message, {}, true));
  }
  return ok([
    { type: "started" },
    ...pairedOnce(league, 0, () => pairingEvents({ ...league, status: "running" }, seed, 0)),
  ]);
}

/** Pairs the rounds that the format adds now. */
export function decidePair(league: League, { seed, slots }: CommandOf<"pair">): Decided {
  const limited = Math.min(slots, MAX_SLOTS);
  return ok(canPair(league) ? pairedOnce(league, limited, () => pairingEvents(league, seed, limited)) : []);
}

interface Paired {
  readonly slots: number;
  readonly events: readonly NewLeagueEvent[];
}

/** The last pairing of each state of a league. */
const paired = new WeakMap<League, Paired>();

/**
 * Returns the events of `pair`, which is called once for a state of a league. The pairing of many players takes seconds, for which several managers must
 * not hold the lock of their run: a manager that loses the lock decides again, on the same state.
 */
function pairedOnce(league: League, slots: number, pair: () => readonly NewLeagueEvent[]): readonly NewLeagueEvent[] {
  const known = paired.get(league);
  if (known?.slots === slots) return known.events;
  const events = pair();
  paired.set(league, { slots, events });
  return events;
}

function pairingEvents(league: League, seed: Seed, slots: number): readonly NewLeagueEvent[] {
  const next = formatOf(league).next(viewOf(league, seed), slots, parsedOptions(league));
  if (next === "wait") return [];
  if (next === "completed") {
    const cancelled = formatOf(league).cancelsOpenMatches ? currentMatches(league) : [];
    return [{ type: "pairing_completed" }, ...cancellationsOf(cancelled)];
  }
  return numbered(withPlayers(league, next.rounds), league.rounds.length).map((round) => ({
    type: "round_paired",
    ...withOpening(league, round),
    ...(opensAtOnce(league) && { slots }),
  }));
}

/** Adds the opening of a round to its pairings. The openings are used again after the last one. */
function withOpening({ openings }: League, round: PairedRound): PairedRound {
  const options = openings?.[(round.round_id - 1) % openings.length];
  return options === undefined
    ? round
    : { ...round, pairings: round.pairings.map((pairing) => ({ ...pairing, options })) };
}
