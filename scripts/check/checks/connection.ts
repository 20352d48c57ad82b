import type { Call } from "../caller.ts";
import { type Check, type CheckContext, type Finding, failed, passed, subjectOf } from "../check.ts";
import type { Exchange } from "../exchange.ts";
import { explainCall, explainReply } from "../judge.ts";
import { unusualPost } from "../unusual-post.ts";

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

/** Judges the form of the answer to the first invitation. If there is no answer, the check `invitation` reports it. */
export const jsonRpc: Check = {
  id: "json-rpc",
  title: "JSON-RPC answers",
  needs: ["reachable"],
  async run(context) {
    const { call } = await context.firstInvitation();
    if (call.answer.ok)
      return passed(
        `the answer to an invitation can be read (${call.isNative ? "a league.v2 envelope" : "translated from another dialect"})`,
      );
    const { cause } = call.answer.error;
    if (cause === "timeout" || cause === "refused") return passed("there is no answer whose form could be judged");
    const explanation = explainCall(call) ?? { summary: call.answer.error.detail, advice: "" };
    return failed({ ...explanation, exchanges: call.exchanges.slice(-1) });
  },
};

const PIECES = 20;
const READ_AFTER_MS = 300;
const CUT_AFTER_MS = 5;

/** Sends a request in small pieces, reads a reply late, and repeats a request whose connection was cut. */
export const slowNetwork: Check = {
  id: "slow-network",
  title: "Slow network",
  needs: ["moves"],
  async run(context) {
    const isCalled = !subjectOf(context).hasInbox; // the requests of an inbox are replies to the polls of the player
    const findings = [...(isCalled ? await slowInvitation(context) : []), ...(await cutMove(context))];
    const pieces = isCalled ? "a request in pieces, a reply read late and " : "";
    return { summary: `${pieces}a request that is sent again after a cut is answered`, findings };
  },
};

/** Sends an invitation in pieces and reads its reply late. */
async function slowInvitation(context: CheckContext): Promise<readonly Finding[]> {
  const { matches, clock, facts, moveMs } = context;
  const subject = subjectOf(context);
  const [game] = facts.games;
  if (!game) return [];
  const match = await matches.begin(subject, { game, role: game.roles[0] ?? "" });
  const { call } = await matches.invite(match);
  const exchange = await unusualPost(
    { url: subject.endpoint, body: requestOf(call), limitMs: moveMs, pieces: PIECES, readAfterMs: READ_AFTER_MS },
    clock,
  );
  await matches.abort(match);
  const finding = judgePieces(exchange, call.isNative);
  return finding ? [finding] : [];
}

/** Judges the reply to a request that was sent in pieces. */
function judgePieces(exchange: Exchange, isNative: boolean): Finding | null {
  const isAnswered = exchange.reply !== null && exchange.fault === null;
  const fault = isAnswered ? (isNative ? explainReply(exchange) : null) : { summary: `no reply: ${exchange.fault}` };
  if (!fault) return null;
  return {
    severity: "fail",
    summary: `a request that arrives in ${PIECES} pieces: ${fault.summary}`,
    advice: "Read the body until content-length bytes have arrived: one read may return only a part of it.",
    exchanges: [exchange],
  };
}

/** Cuts the connection of a move request before its answer, and sends the request again. */
async function cutMove(context: CheckContext): Promise<readonly Finding[]> {
  const { matches, caller, clock, facts, moveMs } = context;
  const subject = subjectOf(context);
  const [game] = facts.games;
  if (!game) return [];
  const match = await matches.beginFirst(subject, game);
  await matches.invite(match);
  const message = caller.matchMessage(subject, "MOVE_REQUEST", match.moveRequest());
  const body = requestOf(await caller.call(match.self, message, moveMs));
  const cut = await unusualPost({ url: subject.endpoint, body, limitMs: moveMs, cutAfterMs: CUT_AFTER_MS }, clock);
  const call = await caller.call(match.self, message, moveMs);
  await matches.abort(match);
  if (call.answer.ok && call.answer.value?.type === "MOVE_RESPONSE") return [];
  const detail = explainCall(call)?.summary ?? "it is not answered with MOVE_RESPONSE";
  return [
    {
      severity: "fail",
      summary: `a request that is repeated after its connection was cut: ${detail}`,
      advice: "Ignore errors while a reply is sent, and answer the repeated request with the same move.",
      exchanges: [{ ...cut, fault: "the check has cut the connection" }, ...call.exchanges.slice(-1)],
    },
  ];
}

/** The body of the request of a call, in the dialect of the player. */
const requestOf = ({ exchanges }: Call): string => exchanges.at(-1)?.request ?? "";
