import { type Check, type CheckContext, type Finding, subjectOf } from "../check.ts";
import { explainAsk } from "../judge/call-fault.ts";
import { joined } from "../judge/match-faults.ts";
import { LEAGUE_ID } from "../league/caller.ts";
import type { Exchange } from "../wire/exchange.ts";
import { unusualPost } from "../wire/unusual-post.ts";

const MALFORMED_LIMIT_MS = 5_000;
const RPC_ID = 4711;

/** Sends messages that a player does not know or that are broken. It must answer each of them and must continue to play. */
export const malformed: Check = {
  id: "malformed",
  title: "Unknown and malformed messages",
  needs: ["moves"],
  async run(context) {
    const findings: Finding[] = [];
    const { endpoint: url, playerId } = subjectOf(context);
    for (const { name, body } of messagesOf(context)) {
      const exchange = await unusualPost({ url, body, limitMs: MALFORMED_LIMIT_MS }, context.clock);
      const finding = judgeAnswer(name, exchange);
      if (finding) findings.push(finding);
      const { call, fault } = await inviteWithUnknownFields(context);
      if (!fault) continue;
      const { summary } = explainAsk(fault, call, playerId);
      const advice =
        "Catch the exceptions of your handler, so that one message cannot stop your program; ignore unknown fields.";
      const exchanges = [exchange, ...call.exchanges.slice(-1)];
      findings.push({
        severity: "fail",
        summary: `after ${name}, an invitation is not accepted: ${summary}`,
        advice,
        exchanges,
      });
      break;
    }
    return { summary: "each is answered, and the player continues to play", findings: joined(findings, "message") };
  },
};

/** Invites the player with fields that the protocol does not have yet. A receiver ignores unknown fields. */
async function inviteWithUnknownFields({ matches, facts, ...context }: CheckContext) {
  const [game] = facts.games;
  if (!game) throw new Error("the player accepts no game");
  const match = await matches.begin(subjectOf({ matches, facts, ...context }), { game, role: game.roles[0] ?? "" });
  const answer = await matches.invite({
    ...match,
    invitation: () => ({ ...match.invitation(), a_later_field: { text: "naïve ✓", list: [1, 2, 3] } }),
  });
  await matches.abort(match);
  return answer;
}

interface Broken {
  /** Names the message in a sentence: "a body that is not JSON". */
  readonly name: string;
  readonly body: string;
}

/** The manager rejects messages to an inbox that are not calls of league_message about a league, so that the player receives only the first one. */
function messagesOf(context: CheckContext): readonly Broken[] {
  const { caller } = context;
  const subject = subjectOf(context);
  const about = { league_id: LEAGUE_ID, match_id: "R9M9" };
  const known = caller.matchMessage(subject, "ROUND_RESULT", about);
  const call = (message: object, method = "tools/call"): string =>
    JSON.stringify({ jsonrpc: "2.0", id: RPC_ID, method, params: { name: "league_message", arguments: message } });
  const later = { name: "an envelope of an unknown type", body: call({ ...known, type: "A_LATER_MESSAGE" }) };
  if (subject.hasInbox) return [later];
  return [
    later,
    { name: "a MOVE_REQUEST without its fields", body: call({ ...known, type: "MOVE_REQUEST", payload: {} }) },
    { name: "an unknown method", body: call(known, "a/later/method") },
    { name: "a request without params", body: JSON.stringify({ jsonrpc: "2.0", id: RPC_ID, method: "tools/call" }) },
    { name: "a JSON value that is no object", body: "17" },
    { name: "a body that is not JSON", body: '{"jsonrpc": "2.0", "id": ' },
  ];
}

/** Judges the answer to a broken message: any HTTP answer that does not report a failure of the program is correct. */
function judgeAnswer(name: string, exchange: Exchange): Finding | null {
  const { reply, fault } = exchange;
  if (reply && fault === null && reply.status < 500) return null;
  const advice =
    "Catch the exceptions of your handler, and answer with a JSON-RPC error: -32700, -32600, -32601 or -32602.";
  const answered = reply && fault === null ? `is answered with HTTP ${reply.status}` : `is not answered: ${fault}`;
  return { severity: "warn", summary: `${name} ${answered}`, advice, exchanges: [exchange] };
}
