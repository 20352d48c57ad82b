import { counted } from "#shared/lib/text.ts";
import { type Check, type CheckContext, type Finding, subjectOf } from "../check.ts";
import { explainCall } from "../judge/call-fault.ts";
import type { Call } from "../league/caller.ts";

const LIMIT_MS = 5_000;

/** Judges the answers to the messages that need no reply: those of the matches so far, and those of a round. */
export const notifications: Check = {
  id: "notifications",
  title: "Notifications answered",
  needs: ["moves"],
  async run(context) {
    await sendRound(context);
    const sent = context.caller.calls.filter(({ isNotification }) => isNotification);
    return { summary: `${sent.length} notifications answered with a 2xx status`, findings: judgeNotifications(sent) };
  },
};

async function sendRound(context: CheckContext): Promise<void> {
  const { caller } = context;
  const subject = subjectOf(context);
  const { playerId: player_id, name: display_name } = subject;
  const options = { timeoutMs: LIMIT_MS };
  const row = { rank: 1, player_id, display_name, played: 1, wins: 1, draws: 0, losses: 0, points: 3, state: "ACTIVE" };
  if (!subject.wantsAnnouncements) return;
  await caller.announce(subject, "ROUND_START", { round_id: 1 }, options);
  // The end of the last round is followed by LEAGUE_COMPLETED, after which players of other dialects end.
  const winners = { R1M1: player_id };
  const end = { round_id: 1, matches_completed: 1, next_round_id: 2, summary: { winners } };
  await caller.announce(subject, "ROUND_END", end, options);
  await caller.announce(subject, "LEAGUE_STANDINGS_UPDATE", { round_id: 1, standings: [row] }, options);
}

/** Returns one warning for each type of notification that was not answered with a 2xx status. */
function judgeNotifications(sent: readonly Call[]): readonly Finding[] {
  const unanswered = Map.groupBy(
    sent.filter(({ answer }) => !answer.ok),
    ({ message }) => message.type,
  );
  return [...unanswered].map(([type, calls]): Finding => {
    const [first] = calls;
    const detail = first && explainCall(first)?.summary;
    return {
      severity: "warn",
      summary: `${type}: ${detail ?? "not answered"} (${counted(calls.length, "message")})`,
      advice:
        "Answer every message type with a 2xx status, also types that your program does not use; an ACK is sufficient.",
      exchanges: first?.exchanges.slice(-1) ?? [],
    };
  });
}
