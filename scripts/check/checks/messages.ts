import { isDeepStrictEqual } from "node:util";
import type { Game } from "#shared/games/game.ts";
import { counted, cutTo, jsonOf } from "#shared/lib/text.ts";
import { NATIVE } from "#shared/protocol/dialects/dialect.ts";
import type { Envelope } from "#shared/protocol/envelope.ts";
import { type Call, LEAGUE_ID } from "../caller.ts";
import { type Check, type CheckContext, type Finding, passed, subjectOf } from "../check.ts";
import type { Exchange } from "../exchange.ts";
import { explainAsk, explainCall, joined } from "../judge.ts";
import type { OpenMatch } from "../matches.ts";
import { unusualPost } from "../unusual-post.ts";

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

/** Several repetitions are sent, because a bot that moves at random may give the same answer twice by chance. */
const REPETITIONS = 4;

/** Sends the same MOVE_REQUEST several times, as a referee does whose connection is lost before the answer. */
export const repeated: Check = {
  id: "repeated",
  title: "Repeated request answered alike",
  needs: ["moves"],
  async run(context) {
    const findings: Finding[] = [];
    for (const game of context.facts.games) {
      const finding = judgeRepeated(game, await callsWith(context, game));
      if (finding) findings.push(finding);
    }
    return { summary: "the same request has the same answer in every game", findings: joined(findings, "match") };
  },
};

/** Sends one MOVE_REQUEST several times; resolves with the calls. */
async function callsWith(context: CheckContext, game: Game): Promise<readonly Call[]> {
  const { matches, caller, moveMs } = context;
  const subject = subjectOf(context);
  const match = await matches.beginFirst(subject, game);
  const { fault } = await matches.invite(match);
  if (fault) return [];
  const message = caller.matchMessage(subject, "MOVE_REQUEST", match.moveRequest());
  const calls: Call[] = [];
  for (let count = 0; count < REPETITIONS; count++) calls.push(await caller.call(match.self, message, moveMs));
  await matches.abort(match);
  return calls;
}

/** Judges the answers to one request. Returns null if they are the same move. */
function judgeRepeated(game: Game, calls: readonly Call[]): Finding | null {
  const [first, ...others] = calls;
  if (!first) return null;
  const faulty = others.find(({ answer }) => !(answer.ok && answer.value?.type === "MOVE_RESPONSE"));
  if (faulty) {
    const answer = faulty.answer.ok ? faulty.answer.value : null;
    const detail = explainCall(faulty)?.summary ?? `it is answered with ${answer?.type}`;
    return {
      severity: "fail",
      summary: `${game.id}: the second time, the same request is not answered with a move: ${detail}`,
      advice:
        "Answer a repeated request with the move of the first answer: the referee repeats a request whose answer it has not received.",
      exchanges: [...first.exchanges.slice(-1), ...faulty.exchanges.slice(-1)],
    };
  }
  const different = others.find((call) => !isDeepStrictEqual(moveIn(call), moveIn(first)));
  if (!different) return null;
  return {
    severity: "warn",
    summary: `${game.id}: the same request is answered with ${shown(first)} and then with ${shown(different)}`,
    advice: "Remember the move of each match and tick, and return it again unless the request has the field error.",
    exchanges: [...first.exchanges.slice(-1), ...different.exchanges.slice(-1)],
  };
}

const moveIn = ({ answer }: Call): unknown => (answer.ok ? answer.value?.payload.move : undefined);
const shown = (call: Call): string => cutTo(60, jsonOf(moveIn(call)));

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
      const exchange = await unusualPost({ url, body, limitMs: LIMIT_MS }, context.clock);
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

const WRONG_SIGNATURE = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/** Sends messages with a missing or wrong signature. A player need not check signatures, so accepted messages are warnings. */
export const token: Check = {
  id: "token",
  title: "Token check",
  needs: ["moves"],
  async run(context) {
    const [game] = context.facts.games;
    if (!game) throw new Error("the player accepts no game");
    const subject = subjectOf(context);
    if (subject.hasInbox) return passed("not tried: the manager checks the signatures of messages to an inbox");
    if (subject.dialect !== NATIVE) return passed("not tried: this dialect has no signatures");
    const open = await context.matches.beginFirst(subject, game);
    const accepted = await context.matches.beginFirst(subject, game);
    await context.matches.invite(accepted);
    const sent = [
      { name: "an invitation without a signature", call: await send(context, "GAME_INVITE", open, undefined) },
      { name: "an invitation with a wrong signature", call: await send(context, "GAME_INVITE", open, WRONG_SIGNATURE) },
      {
        name: "a move request with a wrong signature",
        call: await send(context, "MOVE_REQUEST", accepted, WRONG_SIGNATURE),
      },
    ];
    for (const match of [open, accepted]) await context.matches.abort(match);
    return judgeSignatures(sent, subject.token !== null);
  },
};

async function send(
  { caller }: CheckContext,
  type: "GAME_INVITE" | "MOVE_REQUEST",
  match: OpenMatch,
  signature: string | undefined,
): Promise<Call> {
  const payload = type === "GAME_INVITE" ? match.invitation() : match.moveRequest();
  const message = caller.envelope("referee:REF01", type, payload, signature);
  return caller.call(match.self, message, LIMIT_MS, false);
}

/** Judges the answers to messages with a missing or wrong signature. `isSigned` states whether the check knows the token of the player. */
function judgeSignatures(sent: readonly { readonly name: string; readonly call: Call }[], isSigned: boolean) {
  const findings = sent
    .filter(({ call }) => isAcceptance(call.answer.ok ? call.answer.value : null))
    .map(
      ({ name, call }): Finding => ({
        severity: "warn",
        summary: `${name} is accepted`,
        advice: isSigned
          ? "Check auth_token: base64url(HMAC-SHA256(hex SHA-256 of your token, league_id/match_id)); otherwise any program can ask for your moves."
          : "Start the player with a secret (--secret-file), and give its file to the check as --token-file.",
        exchanges: call.exchanges.slice(-1),
      }),
    );
  return { summary: "messages with a missing or wrong signature are rejected", findings: joined(findings, "message") };
}

const isAcceptance = (reply: Envelope | null): boolean =>
  reply?.type === "MOVE_RESPONSE" || (reply?.type === "GAME_INVITE_RESPONSE" && reply.payload.accept === true);
