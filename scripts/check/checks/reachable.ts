import { type Check, failed, passed, subjectOf } from "../check.ts";
import { explainCall } from "../judge/call-fault.ts";
import { unusualPost } from "../wire/unusual-post.ts";

const LIMIT_MS = 5_000;
/**
 * Shorter than the time after which the client closes an idle connection. When the first connection is closed, a server that serves one
 * connection at a time answers the second one, and the check would miss the fault.
 */
const SECOND_LIMIT_MS = 2_000;

/** Sends the first message of a league. Any HTTP answer is sufficient, because its content is judged by later checks. */
export const reachable: Check = {
  id: "reachable",
  title: "Reachable",
  needs: ["registration"],
  async run(context) {
    const subject = subjectOf(context);
    const { caller } = context;
    const options = { timeoutMs: LIMIT_MS, retry: true };
    const announced = await caller.announce(subject, "ROUND_ANNOUNCEMENT", { round_id: 1, matches: [] }, options);
    // A dialect without announcements begins with an invitation.
    const call = announced.exchanges.length > 0 ? announced : (await context.firstInvitation()).call;
    const exchange = call.exchanges.at(-1);
    if (!exchange?.reply || exchange.fault !== null) {
      const explanation = explainCall(call) ?? { summary: "no HTTP answer", advice: "Answer POST requests with HTTP." };
      return failed({ ...explanation, exchanges: exchange ? [exchange] : [] });
    }
    // The connection of the first request may still be open. Another referee opens another connection at the same time.
    const second = await unusualPost(
      { url: subject.endpoint, body: exchange.request, limitMs: SECOND_LIMIT_MS },
      context.clock,
    );
    if (second.reply && second.fault === null) {
      const how = subject.hasInbox ? "polls its inbox and answers" : `answers at ${subject.endpoint}`;
      return passed(`${how} in ${exchange.durationMs} ms`);
    }
    return failed({
      summary: "a request on a second connection is not answered while the first connection is open",
      advice: subject.hasInbox
        ? "Answer every request of a poll: one poll may have several."
        : "Serve each connection in a separate thread or task (ThreadingHTTPServer instead of HTTPServer in Python).",
      exchanges: [second],
    });
  },
};
