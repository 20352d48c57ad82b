import { isDeepStrictEqual } from "node:util";
import type { Game, Role } from "#shared/games/game.ts";
import { cutTo, jsonOf } from "#shared/lib/text.ts";
import { NATIVE } from "#shared/protocol/dialects/dialect.ts";
import { type Check, type CheckContext, type Finding, passed, subjectOf } from "../check.ts";
import { joined, judgeMatch } from "../judge/match-faults.ts";
import type { Call } from "../league/caller.ts";
import type { PlayedMatch } from "../league/matches.ts";
import { matchLimitMs } from "./moves.ts";

/** The time after which no further game is tried. */
const ALL_MS = 60_000;
const SERIES_LIMIT_MS = 10_000;
/** The turns of first matches that must be answered alike before another answer counts as left-over state: a player that chooses between two actions at random does it once in a million checks. */
const MIN_REPEATED_TURNS = 20;

const ADVICE =
  "Reset what belongs to one match when a match starts; #matches=one after a program starts a process for each match. A bot that learns between matches may ignore this.";

/**
 * Plays the same match, with the same moves of the opponents, as the first one of a league and after other matches of a league. A program that plays many
 * matches in one process has a fresh process for the first match of a league.
 */
export const series: Check = {
  id: "series",
  title: "Matches after each other",
  needs: ["games"],
  async run(context) {
    if (subjectOf(context).dialect !== NATIVE) return passed("not tried: other dialects have no seeds for bots");
    const endsAt = context.clock.monotonic() + ALL_MS;
    const findings: Finding[] = [];
    const unrepeatable: string[] = [];
    let tried = 0;
    for (const game of context.facts.games) {
      if (context.clock.monotonic() >= endsAt) break;
      const compared = await compare(context, game, `check-${++tried}`, endsAt);
      if (compared === "unrepeatable") unrepeatable.push(game.id);
      else if (compared !== null) findings.push(compared);
    }
    const omitted = context.facts.games.length - tried;
    const facts = [
      "the first and a later match of a league are played alike",
      ...(unrepeatable.length > 0 ? [`moves that the seed does not repeat: ${unrepeatable.join(", ")}`] : []),
      ...(omitted > 0 ? [`not tried: ${omitted} further games`] : []),
    ];
    return { summary: facts.join("; "), findings: joined(findings, "match") };
  },
};

/**
 * Compares a match with the same one after other matches; "unrepeatable" if the moves of the player do not depend on the seed alone, or if this is not known
 * at `endsAtMs`.
 */
async function compare(
  context: CheckContext,
  game: Game,
  name: string,
  endsAtMs: number,
): Promise<Finding | "unrepeatable" | null> {
  const subject = subjectOf(context);
  const limitMs = matchLimitMs(SERIES_LIMIT_MS, context.moveMs);
  const options = context.matches.settingsOf(subject, game).at(-1) ?? {};
  const [role = "", ...others] = game.roles;
  const play = (leagueId: string, seed: string, as: Role = role): Promise<PlayedMatch> =>
    context.matches.play(subject, { game, role: as, options, leagueId, seed: `${name}/${seed}` }, limitMs);
  const first = await play(`${name}a`, "match");
  const again = await play(`${name}b`, "match");
  if (faultIn(context, first) ?? faultIn(context, again)) return null; // check 6 reports it
  const isRepeatable = differenceOf(context, first, again) === null;
  const second = await play(`${name}b`, "match");
  for (const other of others) await play(`${name}b`, "other", other);
  const last = await play(`${name}b`, "match");
  const fault = faultIn(context, second) ?? faultIn(context, last);
  if (fault) {
    return { ...fault, severity: "fail", summary: `only after other matches: ${fault.summary}`, advice: ADVICE };
  }
  if (!isRepeatable) return "unrepeatable";
  const different = differenceOf(context, first, second) ?? differenceOf(context, first, last);
  if (different === null) return null;
  // A player that moves at random may have played the first two matches alike by chance.
  let turns = movesIn(context, again).length;
  for (let n = 0; turns < MIN_REPEATED_TURNS; n++) {
    if (context.clock.monotonic() >= endsAtMs) return "unrepeatable";
    const repeated = await play(`${name}c${n}`, "match");
    const own = movesIn(context, repeated).length;
    if (own === 0 || differenceOf(context, first, repeated) !== null) return "unrepeatable";
    turns += own;
  }
  const { index, calls } = different;
  const turn = `${game.id} as ${role}, turn ${index + 1} with the same seed and the same moves of the others`;
  const [before, after] = calls.map(shown);
  return {
    severity: "warn",
    summary: `state is left over from the match before: ${turn} is answered with ${before} in the first match, and with ${after} after other matches`,
    advice: ADVICE,
    exchanges: calls.flatMap(({ exchanges }) => exchanges.slice(-1)),
  };
}

/** The calls of a match that asked the player for a move. */
const movesIn = ({ matches }: CheckContext, { order }: PlayedMatch): readonly Call[] =>
  matches.callsOf(order).filter(({ message }) => message.type === "MOVE_REQUEST");

/** The first turn that the player answered differently in two matches; null if there is none. */
function differenceOf(context: CheckContext, one: PlayedMatch, other: PlayedMatch) {
  const [before, after] = [movesIn(context, one), movesIn(context, other)];
  for (const [index, call] of before.entries()) {
    const later = after[index];
    if (later && !isDeepStrictEqual(moveOf(call), moveOf(later))) return { index, calls: [call, later] };
  }
  return null;
}

const faultIn = ({ matches, ...context }: CheckContext, match: PlayedMatch): Finding | null =>
  judgeMatch(match, matches.callsOf(match.order), subjectOf({ matches, ...context }).playerId);

const moveOf = ({ answer }: Call): unknown => (answer.ok ? answer.value?.payload.move : undefined);
const shown = (call: Call): string => cutTo(60, jsonOf(moveOf(call)));
