import { asText, counted } from "#shared/lib/text.ts";
import type { Finding } from "../check.ts";
import type { Call } from "../league/caller.ts";
import { settingText } from "../league/game-settings.ts";
import type { PlayedMatch } from "../league/matches.ts";
import { explainAsk } from "./call-fault.ts";

/** Judges a played match by its result and its calls, in the order of their answers. Returns null if every answer was correct. */
export function judgeMatch(
  { order, game, role, result }: PlayedMatch,
  calls: readonly Call[],
  playerId: string,
): Finding | null {
  const asked = calls.filter(({ isNotification }) => !isNotification);
  const fault = result?.faults.find((one) => one.player_id === playerId);
  const rejected = firstRejected(fault ? lastTurn(asked) : asked);
  const call = rejected?.call ?? (fault && asked.at(-1));
  const detail = rejected?.reason ?? fault?.detail;
  if (!call || detail === undefined) return null;
  const cause = fault?.cause === "declined" ? "declined" : isIllegal(detail) ? "illegal_move" : "bad_reply";
  const { summary, advice } = explainAsk({ code: "G001", cause, detail }, call, playerId);
  const { tick } = call.message.payload;
  const setting = settingText(order.options);
  const place = `${game.id}${setting === "" ? "" : ` with ${setting}`} as ${role}${tick === undefined ? "" : `, tick ${asText(tick)}`}`;
  const corrected = fault ? "" : "; a later answer of this turn was accepted";
  const exchanges = call.exchanges.slice(-1);
  return { severity: fault ? "fail" : "warn", summary: `${place}: ${summary}${corrected}`, advice, exchanges };
}

const isIllegal = (detail: string): boolean => detail.startsWith("illegal move");

/** The calls with the type and the tick of the last call. */
function lastTurn(asked: readonly Call[]): readonly Call[] {
  const last = asked.at(-1)?.message;
  return asked.filter(({ message }) => message.type === last?.type && message.payload.tick === last?.payload.tick);
}

/** The first call whose answer was rejected, with the reason that the next request of the turn contains; null if none was. */
function firstRejected(asked: readonly Call[]): { readonly call: Call; readonly reason: string } | null {
  for (const [index, { message }] of asked.entries()) {
    const { error } = message.payload as { readonly error?: { readonly message?: unknown } };
    const before = asked[index - 1];
    if (error && before) return { call: before, reason: asText(error.message) };
  }
  return null;
}

/** Joins findings with the same advice: the first one remains, and its summary states how many other matches or messages have the fault. */
export function joined(findings: readonly Finding[], unit: "match" | "message"): readonly Finding[] {
  const groups = Map.groupBy(findings, ({ severity, advice }) => `${severity} ${advice}`);
  return [...groups.values()].flatMap(([first, ...others]) => {
    if (!first || others.length === 0) return first ?? [];
    const plural = unit === "match" ? "matches" : "messages";
    return {
      ...first,
      summary: `${first.summary} (the same with ${counted(others.length, `other ${unit}`, `other ${plural}`)})`,
    };
  });
}
