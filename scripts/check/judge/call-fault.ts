import { asText, cutTo, inOneLine } from "#shared/lib/text.ts";
import type { Envelope } from "#shared/protocol/envelope.ts";
import type { AskFault } from "../../../referee/match/ask-fault.ts";
import type { Call, Overrun } from "../league/caller.ts";
import { isInboxUrl } from "../wire/exchange.ts";
import { type Explanation, explainReply } from "./reply-shape.ts";

const NO_ANSWER =
  "Answer every POST immediately, and read exactly content-length bytes of the request: a handler that waits for more never answers.";

const FOREIGN_ADVICE =
  "Answer with a JSON-RPC response whose result contains the fields of the answer, for example accept: true or parity_choice.";

const HAS_ENDED =
  "Read the output of your program: it has answered earlier requests and has ended since. Catch the exceptions of your handler.";

const UNANSWERED_INBOX =
  "Poll the inbox in a loop, and send for each request a JSON-RPC response with its id in the array of the next poll (PROTOCOL.md, Inbox).";

const MORE_TIME = "--move-ms gives more time in this check, timeouts.move_ms in the config of a league.";

const ACCEPT_FIRST = "Answer an invitation as soon as it arrives, and prepare for the match after the answer.";

/** Explains a call that has no answer within its time limit, by what the check knows about the cause. */
function explainOverrun({ limitMs, by }: Overrun, detail: string, type: string): Explanation {
  if (by === "bot") {
    const advice = `Return a move before the deadline of the turn, and look for a loop or a promise without an end. ${MORE_TIME}`;
    return { summary: `the bot took longer than ${Math.round(limitMs)} ms`, advice };
  }
  if (by.answerMs === null) {
    return { summary: `${detail}, and no later answer to a request that was sent again`, advice: NO_ANSWER };
  }
  const again = `a request that was sent again was answered after ${by.answerMs} ms`;
  const advice = type === "GAME_INVITE" ? ACCEPT_FIRST : `Answer before the deadline of the request. ${MORE_TIME}`;
  return { summary: `the player took longer than ${Math.round(limitMs)} ms; ${again}`, advice };
}

/** Explains why a call has no usable answer. Returns null if it has one. */
export function explainCall({ message, answer, exchanges, isNative, overrun, wasAnswered }: Call): Explanation | null {
  if (answer.ok) return null;
  const { cause, detail, isNothingListening } = answer.error;
  const last = exchanges.at(-1);
  if (cause === "too_large")
    return { summary: detail, advice: "An answer has at most 256 kB; send only the fields of PROTOCOL.md." };
  if (last?.reply && last.fault !== null) return explainReply(last);
  if (!isNative && last?.reply) return { summary: inOneLine(detail), advice: FOREIGN_ADVICE };
  const isInInbox = isInboxUrl(last?.url ?? "");
  if (isInInbox && (cause === "timeout" || cause === "refused")) {
    return { summary: `the request in the inbox is not answered (${detail})`, advice: UNANSWERED_INBOX };
  }
  if (cause === "timeout")
    return overrun ? explainOverrun(overrun, detail, message.type) : { summary: detail, advice: NO_ANSWER };
  if (cause === "refused" && isNothingListening && wasAnswered) {
    return { summary: `the program does not listen any more (${last?.fault ?? detail})`, advice: HAS_ENDED };
  }
  if (cause === "refused") return explainRefused(last?.fault ?? detail, isNothingListening ?? false);
  return (
    (last && explainReply(last)) ?? { summary: detail, advice: "PROTOCOL.md, section 2, shows the form of an answer." }
  );
}

function explainRefused(detail: string, isNothingListening: boolean): Explanation {
  return isNothingListening
    ? {
        summary: `no program listens at the endpoint (${detail})`,
        advice:
          "Start the server before you register, keep it running, and register the address and port at which it listens.",
      }
    : {
        summary: `the connection was closed before the end of the reply (${detail})`,
        advice:
          "Catch all exceptions of your handler, and send a content-length that is the number of bytes of the body.",
      };
}

/** Explains the fault of a player that was asked for an acceptance or a move. `call` is the call that shows it. */
export function explainAsk(fault: AskFault, call: Call | undefined, playerId: string): Explanation {
  const summary = inOneLine(fault.detail);
  if (call && !call.answer.ok) return explainCall(call) ?? { summary, advice: NO_ANSWER };
  const reply = call?.answer.ok ? call.answer.value : null;
  return { summary, advice: adviceFor(fault, reply, call?.message.type ?? "", playerId) };
}

function adviceFor({ cause }: AskFault, reply: Envelope | null, asked: string, playerId: string): string {
  if (cause === "declined")
    return "Accept every invitation to a game that you register in game_types: accept must be true.";
  if (cause === "illegal_move") return "Return one of legal_actions as move, unchanged and with the same type.";
  if (!reply) return NO_ANSWER;
  const { type, sender, payload } = reply;
  const expected = asked === "GAME_INVITE" ? "GAME_INVITE_RESPONSE" : "MOVE_RESPONSE";
  if (type === "LEAGUE_ERROR" || type === "GAME_ERROR") return adviceForError(payload);
  if (type !== expected) return `Answer ${asked} with an envelope of the type ${expected}.`;
  if (sender !== `player:${playerId}`) {
    return `Set sender to player:${playerId}: the id is player_id of the registration answer, and roles[your_role] of the invitation.`;
  }
  return asked === "GAME_INVITE"
    ? "Send the payload {match_id, accept}: copy match_id from the invitation; accept is true or false."
    : "Send the payload {match_id, tick, move}: copy match_id and tick from the request.";
}

function adviceForError({ error_code, message }: Readonly<Record<string, unknown>>): string {
  if (error_code === "L004") {
    return "Check signatures with the token of your last registration (PROTOCOL.md, section 3); for a player that is registered elsewhere, use --token-file.";
  }
  if (error_code === "G003")
    return "Keep the match from its GAME_INVITE to its GAME_RESULT, by league_id and match_id.";
  if (error_code === "G001")
    return `Correct the error in your bot; the output of the player shows it (${cutTo(100, inOneLine(asText(message)))}).`;
  return "Answer the request with the expected message, not with an error; the message of the error names the reason.";
}
