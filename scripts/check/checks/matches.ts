import { isDeepStrictEqual } from "node:util";
import type { Game, Role } from "#shared/games/game.ts";
import { knownGames } from "#shared/games/registry.ts";
import { cutTo, jsonOf } from "#shared/lib/text.ts";
import { NATIVE } from "#shared/protocol/dialects/dialect.ts";
import { Timeouts } from "#shared/protocol/message-fields.ts";
import type { Call } from "../caller.ts";
import {
  type Acceptance,
  type Check,
  type CheckContext,
  type Finding,
  failed,
  passed,
  subjectOf,
  type Verdict,
} from "../check.ts";
import { explainAsk, joined, judgeMatch } from "../judge.ts";
import { type PlayedMatch, settingText } from "../matches.ts";
import { claimedGames } from "../registration-desk.ts";

const { join_ms: LIMIT_MS } = Timeouts.parse({});

/** The games to which the player is invited: those that it claims, or all. */
export function gamesToCheck({ subject, onlyGames }: Pick<CheckContext, "subject" | "onlyGames">): readonly Game[] {
  const claimed = subject?.games == null ? knownGames() : claimedGames(subject.games);
  return onlyGames === null ? claimed : onlyGames.filter((game) => claimed.includes(game));
}

/** Invites the player to a match that is not played. */
export async function inviteTo(context: CheckContext, game: Game): Promise<Acceptance> {
  const { matches } = context;
  const [role = ""] = game.roles;
  const match = await matches.begin(subjectOf(context), { game, role });
  const answer = await matches.invite(match);
  if (answer.fault === null) await matches.abort(match);
  return { game, ...answer };
}

/** Judges the content of the answer to the first invitation. The check `json-rpc` judges its form. */
export const invitation: Check = {
  id: "invitation",
  title: `Invitation accepted within ${LIMIT_MS / 1000} s`,
  needs: ["json-rpc"],
  async run(context) {
    const { game, call, fault } = await context.firstInvitation();
    const exchange = call.exchanges.at(-1);
    if (!fault) return passed(`${game.id} accepted in ${exchange?.durationMs ?? 0} ms`);
    const isOtherGame = fault.cause === "declined" && context.subject?.games === null && context.onlyGames === null;
    if (isOtherGame)
      return passed(`${game.id} declined; this is no fault, because the games of the player are not known`);
    const { playerId } = subjectOf(context);
    return failed({ ...explainAsk(fault, call, playerId), exchanges: exchange ? [exchange] : [] });
  },
};

/** Invites the player to a match of every game that it claims. */
export const games: Check = {
  id: "games",
  title: "Every claimed game",
  needs: ["invitation"],
  async run(context) {
    const subject = subjectOf(context);
    const isClaimed = subject.games !== null || context.onlyGames !== null;
    const findings: Finding[] = [];
    const accepted = [];
    const first = await context.firstInvitation();
    for (const game of gamesToCheck(context)) {
      const { call, fault } = game === first.game ? first : await inviteTo(context, game);
      if (fault === null) accepted.push(game);
      else if (isClaimed || fault.cause !== "declined") {
        const { summary, advice } = explainAsk(fault, call, subject.playerId);
        findings.push({
          severity: "fail",
          summary: `${game.id}: ${summary}`,
          advice,
          exchanges: call.exchanges.slice(-1),
        });
      }
    }
    context.facts.games = accepted;
    if (accepted.length === 0 && findings.length === 0) {
      const advice = "Accept invitations to at least one game of this project.";
      findings.push({
        severity: "fail",
        summary: "the player declines every game",
        advice,
        exchanges: first.call.exchanges.slice(-1),
      });
    }
    return { summary: accepted.map(({ id }) => id).join(", "), findings };
  },
};

/** The time limit of a match. A longer match is ended, and the moves before the limit are judged. */
const MATCH_LIMIT_MS = 60_000;

/** Returns the time limit of a match, in which a move without an answer must reach its own limit. */
const matchLimitMs = (atLeastMs: number, moveMs: number): number => Math.max(atLeastMs, 2 * moveMs);

/** Plays a match of every accepted game with each of its settings and in each role, one after the other. */
export const moves: Check = {
  id: "moves",
  title: "Legal moves over whole matches",
  needs: ["games"],
  async run(context) {
    const verdict = judgeMatches(context, await playAll(context));
    context.facts.moves = verdict.findings;
    return verdict;
  },
};

async function playAll(context: CheckContext): Promise<readonly PlayedMatch[]> {
  const subject = subjectOf(context);
  const limitMs = matchLimitMs(MATCH_LIMIT_MS, context.moveMs);
  const played: PlayedMatch[] = [];
  for (const game of context.facts.games) {
    const settings = context.matches.settingsOf(subject, game);
    for (const { role, options } of settings.flatMap((options) => game.roles.map((role) => ({ role, options })))) {
      const match = await context.matches.play(subject, { game, role, options }, limitMs);
      played.push(match);
      // Further matches of a player that does not answer would take the whole time limit each.
      const faults = match.result?.faults ?? [];
      if (faults.some(({ player_id, code }) => player_id === subject.playerId && code === "G002")) return played;
    }
  }
  return played;
}

/** Judges matches. The summary counts them and their moves. */
function judgeMatches(context: CheckContext, played: readonly PlayedMatch[]): Verdict {
  const { playerId } = subjectOf(context);
  const calls = played.map(({ order }) => context.matches.callsOf(order));
  const findings = played.flatMap((match, index): readonly Finding[] => {
    const finding = judgeMatch(match, calls[index] ?? [], playerId);
    return finding ? [finding] : [];
  });
  const moveCalls = calls.flat().filter(({ message }) => message.type === "MOVE_REQUEST");
  const slowest = Math.max(0, ...moveCalls.map(({ exchanges }) => exchanges.at(-1)?.durationMs ?? 0));
  const ended = played.filter(({ result }) => result === null).length;
  const cut = ended === 0 ? "" : `, ${ended} of them not to the end, because they took too long`;
  const summary = `${played.length} matches${cut}, ${moveCalls.length} moves, slowest answer ${slowest} ms`;
  const settings = [...new Set(played.map(({ order, game }) => settingOf(game.id, order.options)))];
  const named = settings.filter((setting) => setting !== null).join(", ");
  return { summary: named === "" ? summary : `${summary}; options: ${named}`, findings: joined(findings, "match") };
}

/** The game and its options as text; null if they are the defaults. */
function settingOf(game: string, options: unknown): string | null {
  const text = settingText(options);
  return text === "" ? null : `${game} ${text}`;
}

const PARALLEL_LIMIT_MS = 30_000;
const MAX_MATCHES = 12;
const ONLY_IN_PARALLEL =
  "This happens only with parallel matches: keep the state of each match under league_id and match_id.";

/** Plays matches of all accepted games at the same time, at least two. */
export const parallel: Check = {
  id: "parallel",
  title: "Parallel matches",
  needs: ["moves"],
  async run(context) {
    const subject = subjectOf(context);
    if (subject.dialect !== NATIVE) return passed("not tried: a player of this dialect receives one message at a time");
    // The last options of a game have several rounds, so that more messages of different matches alternate.
    const seats = context.facts.games
      .flatMap((game) => {
        const options = context.matches.settingsOf(subject, game).at(-1) ?? {};
        return game.roles.map((role) => ({ game, role, options }));
      })
      .slice(0, MAX_MATCHES);
    const limitMs = matchLimitMs(PARALLEL_LIMIT_MS, context.moveMs);
    const played = await Promise.all(seats.map((seat) => context.matches.play(subject, seat, limitMs)));
    const verdict = judgeMatches(context, played);
    // A fault that also occurs in single matches is already reported.
    const known = new Set(context.facts.moves.map(({ advice }) => advice));
    const findings = verdict.findings
      .filter(({ advice }) => !known.has(advice))
      .map((finding) => ({ ...finding, advice: `${finding.advice} ${ONLY_IN_PARALLEL}` }));
    return { summary: `${verdict.summary}, all at the same time`, findings };
  },
};

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
