import { NATIVE } from "#shared/protocol/dialects/dialect.ts";
import type { Envelope } from "#shared/protocol/envelope.ts";
import { type Check, type CheckContext, type Finding, passed, subjectOf } from "../check.ts";
import { joined } from "../judge/match-faults.ts";
import type { Call } from "../league/caller.ts";
import type { OpenMatch } from "../league/matches.ts";

const TOKEN_LIMIT_MS = 5_000;
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
  return caller.call(match.self, message, TOKEN_LIMIT_MS, false);
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
