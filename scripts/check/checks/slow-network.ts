import { type Check, type CheckContext, type Finding, subjectOf } from "../check.ts";
import { explainCall } from "../judge/call-fault.ts";
import { explainReply } from "../judge/reply-shape.ts";
import type { Call } from "../league/caller.ts";
import type { Exchange } from "../wire/exchange.ts";
import { unusualPost } from "../wire/unusual-post.ts";

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
