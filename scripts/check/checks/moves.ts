import type { Check, CheckContext, Finding, Verdict } from "../check.ts";
import { subjectOf } from "../check.ts";
import { joined, judgeMatch } from "../judge/match-faults.ts";
import { settingText } from "../league/game-settings.ts";
import type { PlayedMatch } from "../league/matches.ts";

/** The time limit of a match. A longer match is ended, and the moves before the limit are judged. */
const MATCH_LIMIT_MS = 60_000;

/** Returns the time limit of a match, in which a move without an answer must reach its own limit. */
export const matchLimitMs = (atLeastMs: number, moveMs: number): number => Math.max(atLeastMs, 2 * moveMs);

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
export function judgeMatches(context: CheckContext, played: readonly PlayedMatch[]): Verdict {
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
