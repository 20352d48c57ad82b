import { counted, cutTo, inOneLine, parsedJson } from "#shared/lib/text.ts";
import { Envelope, fieldFaults } from "#shared/protocol/envelope.ts";
import { ANY_GAME, PlayerRegisterRequest } from "#shared/protocol/messages.ts";
import { type Check, type Finding, failed, passed, type Verdict } from "../check.ts";
import type { Exchange } from "../exchange.ts";
import type { Explanation } from "../judge.ts";
import { type RegistrationRecord, unknownTypes } from "../registration-desk.ts";

/** Judges whether the player registers as PROTOCOL.md, section 2, describes. */
export const registration: Check = {
  id: "registration",
  title: "Registration",
  needs: [],
  run: async ({ registration: record, subject }) =>
    record === null
      ? passed("the player was not registered here, because its URL was given")
      : judgeRegistration(record, subject?.hasChosenToken ?? false),
};

const FORM =
  'Send {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "league_message", "arguments": ENVELOPE}} with an envelope of the type PLAYER_REGISTER_REQUEST.';

function judgeRegistration({ last, accepted }: RegistrationRecord, hasChosenToken: boolean): Verdict {
  if (accepted === null) {
    const exchanges = last ? [last] : [];
    const advice = "Send PLAYER_REGISTER_REQUEST by POST to /mcp of the manager when the program starts.";
    if (!last) return failed({ summary: "the player has sent no registration", advice, exchanges });
    return failed({ ...explainRejected(last), exchanges });
  }
  const { display_name, game_types } = accepted;
  const token = hasChosenToken ? "with a token that the player has chosen" : "without a token of the player's choice";
  const findings = unknownTypes(game_types).map(
    (type): Finding => ({
      severity: "warn",
      summary: `game_types contains ${cutTo(60, inOneLine(type))}, which is not a game of this project`,
      advice: "Write the id of the game, with or without its version, for example rps.v1 or rps.",
      exchanges: last ? [last] : [],
    }),
  );
  return { summary: `${display_name}, ${gamesText(game_types)}, ${token}`, findings };
}

/** The number of game types of a registration. `*`, every game, is not counted. */
function gamesText(gameTypes: readonly string[]): string {
  const named = gameTypes.filter((type) => type !== ANY_GAME);
  if (named.length === gameTypes.length) return counted(named.length, "game type");
  return named.length === 0 ? "every game" : `${counted(named.length, "game type")} and every other game`;
}

/** Explains why a registration was not accepted. */
function explainRejected({ method, url, request, reply }: Exchange): Explanation {
  if (url !== "/mcp")
    return {
      summary: `the player has sent ${method} ${url}`,
      advice: "Send the registration by POST to the path /mcp of the manager.",
    };
  if (reply?.status === 415)
    return { summary: reply.body, advice: "Set the header content-type of the request to application/json." };
  if (reply !== null && request === "") return { summary: `HTTP ${reply.status}: ${reply.body}`, advice: FORM };
  const call = parsedJson(request);
  if (call === undefined) return { summary: "the body of the request is not JSON", advice: FORM };
  const { params, error } = { params: fieldOf(call, "params"), error: fieldOf(parsedJson(reply?.body ?? ""), "error") };
  const envelope = Envelope.safeParse(fieldOf(params, "arguments"));
  if (fieldOf(params, "name") === "league_message" && !envelope.success) {
    const faults = fieldFaults(envelope.error).map(({ path, message }) => (path ? `${path} ${message}` : message));
    const advice =
      "Send the envelope as params.arguments: protocol, message_id, type, sender, timestamp and payload (PROTOCOL.md, section 1).";
    return { summary: `the registration is not an envelope: ${shown(faults.join("; "))}`, advice };
  }
  const isPlain = fieldOf(params, "name") === "register_player" && error === undefined;
  if (!isPlain && (!envelope.success || error !== undefined)) {
    const message = fieldOf(error, "message");
    const payload = envelope.success ? PlayerRegisterRequest.safeParse(envelope.data.payload) : null;
    const faults = payload?.error
      ? fieldFaults(payload.error, "payload").map(({ path, message }) => `${path} ${message}`)
      : [];
    if (faults.length > 0) {
      const advice =
        "Send the required fields display_name, game_types (a list of ids) and contact_endpoint (the URL of your server, or null for an inbox).";
      return { summary: `the registration has wrong fields: ${shown(faults.join("; "))}`, advice };
    }
    return { summary: `the request was rejected: ${shown(String(message ?? "it is not a tool call"))}`, advice: FORM };
  }
  return {
    summary: `the registration was rejected: ${reasonIn(reply?.body ?? "")}`,
    advice: adviceForReason(reasonIn(reply?.body ?? "")),
  };
}

const shown = (text: string): string => cutTo(300, inOneLine(text));

function adviceForReason(reason: string): string {
  if (reason.includes("contact_endpoint")) {
    return "Send as contact_endpoint the URL at which your server listens, with the address of the connection to the manager.";
  }
  return "Send the ids of the games that your program plays as game_types, for example rps.v1.";
}

/** The reason in the answer to a rejected registration. */
function reasonIn(body: string): string {
  const content = fieldOf(fieldOf(parsedJson(body), "result"), "content");
  const text = Array.isArray(content) ? fieldOf(content[0], "text") : undefined;
  const answer = parsedJson(typeof text === "string" ? text : "");
  const reason = fieldOf(fieldOf(answer, "payload") ?? answer, "reason");
  return typeof reason === "string" ? reason : "for an unknown reason";
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
