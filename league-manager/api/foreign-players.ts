import { withoutVersion } from "#shared/games/game.ts";
import { findGameNamed, knownGameIds } from "#shared/games/registry.ts";
import type { Clock } from "#shared/lib/clock.ts";
import type { Ids } from "#shared/lib/ids.ts";
import { cutTo, inOneLine, parsedJson } from "#shared/lib/text.ts";
import { bareHost, isLoopback, parseEndpoint } from "#shared/protocol/addresses.ts";
import { type DialectId, dialectToken, isDialectToken, NATIVE, speechText } from "#shared/protocol/dialects/dialect.ts";
import { first, firstText, idOfSender, isFields } from "#shared/protocol/dialects/fields.ts";
import type { ForeignMessage } from "#shared/protocol/dialects/forms.ts";
import {
  errorReply,
  type ForeignRegistration,
  type ForeignRequest,
  type ReplyHead,
  registrationBody,
  registrationIn,
  replyTo,
} from "#shared/protocol/dialects/incoming-requests.ts";
import { fieldFaults } from "#shared/protocol/envelope.ts";
import { PlayerRegisterRequest } from "#shared/protocol/messages.ts";
import {
  type AnswerForeign,
  type ForeignHandler,
  type ForeignHandlers,
  foreignMessages,
} from "#shared/rpc/dialects/incoming.ts";
import type { HttpContext, McpHandler } from "#shared/rpc/jsonrpc/http-context.ts";
import { type CreationLimit, TOO_MANY_CREATIONS } from "#shared/rpc/jsonrpc/rate-limit.ts";
import { asRefused, type Peers } from "#shared/rpc/peer/peer.ts";
import { nameWithPort } from "../agents/agent-identity.ts";
import type { Agent } from "../agents/registered-agent.ts";
import { currentMatches, type League, type Match } from "../league/league.ts";
import type { Projections } from "../projections/projections.ts";
import { scheduleRow } from "../projections/schedule.ts";
import type { Registration } from "./agent-registration.ts";

/** Answers the messages of players of other dialects: registrations, queries, and answers that belong to referees. */
export function answerForeignPlayers(
  context: ForeignRegistrationContext &
    ForeignAnswersContext & { readonly projections: Projections; readonly ids: Ids },
): AnswerForeign {
  const registrations = new ForeignRegistrations(context);
  const { projections, clock, ids } = context;
  return foreignMessages(
    {
      register: (request, head, http) => registrations.register(request, head, http),
      ...answersForReferees(context),
      query: (request, head) => answerQuery(projections, request, head),
      other: (request, head) => acknowledge(projections, request, head),
    },
    () => "league_manager",
    clock,
    ids,
  );
}

/** The paths besides `/mcp` at which programs register. */
const REGISTRATION_PATHS: ReadonlySet<string> = new Set(["/register", "/register_player", "/api/register"]);

/** Answers registrations at paths besides `/mcp` as `handler` does at `/mcp`. */
export const registrationRoutes = (handler: McpHandler): { isAt: (path: string) => boolean; handler: McpHandler } => ({
  isAt: (path) => REGISTRATION_PATHS.has(path),
  handler: (body, http) => handler(JSON.stringify(registrationBody(parsedJson(body))) ?? body, http),
});

interface ForeignRegistrationContext {
  readonly projections: KnownPlayers;
  readonly registration: Pick<Registration, "player" | "isFromEndpoint">;
  readonly creations: CreationLimit;
  /** Whether a new player can enter a league. */
  readonly takesPlayers: (leagueId: string) => boolean;
  readonly clock: Clock;
}

type KnownLeague = Pick<League, "leagueId" | "status" | "entrants" | "game">;

/** The leagues and players of the manager. */
interface KnownPlayers {
  leagues(): readonly KnownLeague[];
  agent(id: string): Pick<Agent, "name" | "endpoint" | "tokenHash"> | null;
}

/** The answers to a registration, as `Registration` returns them. */
interface RegisterResponse {
  readonly status: "ACCEPTED" | "REJECTED";
  readonly player_id: string | null;
  readonly league_ids: readonly string[];
  readonly reason: string | null;
  readonly error_code: string | null;
  readonly retryable?: boolean;
}

/** Registers players of other dialects. */
export class ForeignRegistrations {
  readonly #context: ForeignRegistrationContext;
  /** The last answer to each player. */
  readonly #answered = new Map<string, LastAnswer>();

  constructor(context: ForeignRegistrationContext) {
    this.#context = context;
  }

  async register(request: ForeignRequest, head: ReplyHead, http: HttpContext): Promise<ForeignMessage> {
    const fields = registrationIn(request);
    if (fields.endpoint === null) {
      const reason = "player_meta.contact_endpoint is missing: the URL at which the player receives its messages";
      return errorReply(request, head, "E003", reason, { field: "player_meta.contact_endpoint" });
    }
    const endpoint = endpointOf(fields.endpoint, http.remoteAddress);
    const payload = PlayerRegisterRequest.safeParse(this.#payload(fields, endpoint));
    if (!payload.success) {
      const [fault] = fieldFaults(payload.error);
      return errorReply(request, head, "E003", `${fault?.path}: ${fault?.message}`, { field: fault?.path });
    }
    const limit = await this.#context.creations(http.remoteAddress);
    if (limit && !limit.isAllowed) return rejection(request, head, TOO_MANY_CREATIONS, null);
    const id: DialectId = request.protocol?.startsWith("league.v1") ? "league.v1" : "classroom";
    const dialect = speechText({ id, form: request.form });
    const answer = await this.#registered(payload.data, http, dialect);
    if (answer.player_id === null)
      return rejection(request, head, answer.reason ?? "", answer.error_code, answer.retryable);
    const isFromEndpoint = await this.#context.registration.isFromEndpoint(endpoint, http.remoteAddress);
    return this.#accepted(request, head, answer.player_id, answer.league_ids, isFromEndpoint, id);
  }

  #payload(fields: ForeignRegistration, endpoint: string) {
    const gameTypes = gamesOf(fields.gameTypes, this.#context.projections.leagues());
    return {
      display_name: nameOf(fields.name, endpoint),
      version: cutTo(99, fields.version ?? "1.0.0"),
      game_types: gameTypes,
      contact_endpoint: endpoint,
      league_ids: this.#leagueIds(fields, endpoint, gameTypes),
      join_code: fields.joinCode,
    };
  }

  /** Returns the league that the message names, else the first one of the player's games that it can enter: such a player knows one league only. null if there is none. */
  #leagueIds({ leagueId }: ForeignRegistration, endpoint: string, gameTypes: readonly string[]): string[] | null {
    const { projections, takesPlayers } = this.#context;
    const leagues = projections.leagues();
    const isMember = ({ entrants, status }: KnownLeague): boolean =>
      status !== "completed" && [...entrants.keys()].some((id) => projections.agent(id)?.endpoint === endpoint);
    const isOpen = ({ leagueId, status, game }: KnownLeague): boolean =>
      status === "open" && gameTypes.includes(game) && takesPlayers(leagueId);
    const named = leagues.find((league) => league.leagueId === leagueId);
    const league = leagues.find(isMember) ?? named ?? leagues.find(isOpen);
    return league ? [league.leagueId] : null;
  }

  /** Registers a player. If its name is taken, which is common because programs are copied, it is registered with its port in the name. */
  async #registered(
    request: PlayerRegisterRequest,
    { remoteAddress }: HttpContext,
    dialect: string,
  ): Promise<RegisterResponse> {
    const { registration } = this.#context;
    const register = async (display_name: string): Promise<RegisterResponse> => {
      const caller = { authToken: null, remoteAddress };
      const answer = await registration.player({ ...request, display_name }, caller, { dialect });
      return (answer.ok ? answer.value : { ...NO_PLAYER, reason: answer.error.message }) as RegisterResponse;
    };
    const { display_name, contact_endpoint } = request;
    const answer = await register(display_name);
    if (answer.error_code !== "L003" || !answer.reason?.startsWith("the name ")) return answer;
    return register(nameWithPort(display_name, contact_endpoint ?? ""));
  }

  #accepted(
    request: ForeignRequest,
    head: ReplyHead,
    playerId: string,
    leagueIds: readonly string[],
    isFromEndpoint: boolean,
    dialect: DialectId,
  ): ForeignMessage {
    const { projections } = this.#context;
    const agent = projections.agent(playerId);
    return replyTo(request, head, "LEAGUE_REGISTER_RESPONSE", {
      // The specification of league.v1 has no other status.
      status: dialect === "league.v1" ? "ACCEPTED" : this.#statusFor(request, playerId),
      success: true,
      player_id: playerId,
      // Only the program at the endpoint learns the token. It receives the token with each message, too.
      auth_token: isFromEndpoint ? dialectToken(playerId, agent?.tokenHash ?? "") : null,
      league_id: leagueIds[0] ?? null,
      league_ids: leagueIds,
      display_name: agent?.name ?? null,
      reason: null,
    });
  }

  /**
   * Returns the status of an accepted registration. Most programs expect ACCEPTED, and some only REGISTERED. A program that does not understand its status registers
   * again, and then receives the other one if its request has a higher id. Other repeated registrations may come from a program that was restarted, so that
   * only every third one is answered with REGISTERED.
   */
  #statusFor(request: ForeignRequest, playerId: string): Status {
    const atMs = this.#context.clock.monotonic();
    const last = this.#answered.get(playerId);
    const isRepeated = last !== undefined && atMs - last.atMs < REPEATED_WITHIN_MS;
    const isSameStart = isRepeated && isLaterRequest(last.request, request);
    const repetition = isRepeated ? last.repetition + 1 : 0;
    const byNumber = repetition % 3 === 2 ? "REGISTERED" : "ACCEPTED";
    const status = isSameStart ? OTHER_STATUS[last.status] : byNumber;
    if (this.#answered.size >= MAX_ANSWERED) this.#answered.clear();
    this.#answered.set(playerId, { status, repetition, atMs, request });
    return status;
  }
}

type Status = "ACCEPTED" | "REGISTERED";
const OTHER_STATUS: Readonly<Record<Status, Status>> = { ACCEPTED: "REGISTERED", REGISTERED: "ACCEPTED" };

/** The last answer to the registrations of a player. */
interface LastAnswer {
  readonly status: Status;
  /** The number of repeated registrations before it. */
  readonly repetition: number;
  readonly atMs: number;
  readonly request: ForeignRequest;
}

/**
 * Whether a program has sent a registration after an earlier one without a restart in between: it counts its requests. A large id may be a time or a
 * random number.
 */
const isLaterRequest = ({ id: earlier }: ForeignRequest, { id: later }: ForeignRequest): boolean =>
  typeof earlier === "number" && typeof later === "number" && later > earlier && later <= MAX_COUNTED;
const MAX_COUNTED = 10_000;
const REPEATED_WITHIN_MS = 60_000;
const MAX_ANSWERED = 10_000;
const NO_PLAYER = { status: "REJECTED", player_id: null, league_ids: [], error_code: null } as const;

const rejection = (
  request: ForeignRequest,
  head: ReplyHead,
  reason: string,
  code: string | null,
  retryable = false,
): ForeignMessage =>
  replyTo(request, head, "LEAGUE_REGISTER_RESPONSE", {
    status: "REJECTED",
    success: false,
    player_id: null,
    auth_token: null,
    league_id: null,
    league_ids: [],
    reason,
    error_code: code,
    ...(retryable && { retryable }),
  });

/** Returns the endpoint with the path `/mcp` if it has none, and with the address of the caller instead of 0.0.0.0. */
function endpointOf(text: string, remoteAddress: string): string {
  const url = parseEndpoint(/^https?:/i.test(text) ? text : `http://${text}`);
  if (!url) return text;
  if (url.pathname === "/") url.pathname = "/mcp";
  if (["0.0.0.0", "::"].includes(bareHost(url))) url.hostname = isLoopback(remoteAddress) ? "127.0.0.1" : remoteAddress;
  return url.href;
}

/** The game of the programs of these dialects. */
const USUAL_GAME = "even_odd.v1";

/**
 * Returns the ids of the games that a program names, with or without a version. A program that names none plays even/odd if an open league has it, and
 * otherwise every game.
 */
function gamesOf(names: readonly string[], leagues: readonly KnownLeague[]): readonly string[] {
  if (names.length === 0) {
    const isUsual = leagues.some(({ status, game }) => status === "open" && game === USUAL_GAME);
    return isUsual ? [USUAL_GAME] : knownGameIds();
  }
  const known = names.flatMap((name) => findGameNamed(name.replace(/[._-]?v\d+$/i, ""))?.id ?? []);
  if (known.length > 0) return known;
  return names.some((name) => /even|odd|parity/i.test(name)) ? [USUAL_GAME] : names;
}

/** Returns a name that can be shown. A program without a name is called by its host and port. */
function nameOf(name: string | null, endpoint: string): string {
  const shown = inOneLine(idOfSender(name ?? "")).trim();
  const isPlaceholder = shown === "" || /^(unregistered|unknown|new|player)$/i.test(shown);
  return isPlaceholder ? (parseEndpoint(endpoint)?.host ?? "player") : cutTo(99, shown);
}

interface ForeignAnswersContext {
  readonly projections: Projections;
  readonly registration: Pick<Registration, "isFromEndpoint">;
  readonly post: Peers["post"];
}

/** The methods with which the answers are passed on. */
const ANSWER_METHODS = { join_ack: "receive_game_join_ack", move: "receive_parity_response" } as const;
const NOT_AWAITED = "no open request of this match waits for this answer";
/** The time in which a referee acknowledges an answer. */
const ACKNOWLEDGE_TIMEOUT_MS = 5_000;

/** A player of another dialect in an assigned match. */
interface Seated {
  readonly player: Agent;
  readonly matchId: string;
  readonly refereeEndpoint: string;
}

/**
 * The handlers of answers that players send in separate requests to the manager, because they know no other address. An answer is passed on to the referee of
 * its match, and the reply of the referee is returned. The token shows whose answer it is; without the right token the address of the player, and
 * the id in the answer if several players have this address, as at the referee.
 */
function answersForReferees({ projections, registration, post }: ForeignAnswersContext): ForeignHandlers {
  const handler =
    (kind: keyof typeof ANSWER_METHODS): ForeignHandler =>
    async (request, head, { remoteAddress }) => {
      const { message } = request;
      const seats = seatsOf(projections, firstText([message], ["match_id", "game_id"]));
      const token = firstText([message], ["auth_token"]);
      const isOwner = ({ player }: Seated): boolean =>
        token !== null && isDialectToken(token, player.id, player.tokenHash);
      const seat = seats.find(isOwner) ?? (await seatAt(registration, seats, remoteAddress, senderIds(message)));
      if (!seat && seats.length > 0) {
        const reason =
          "auth_token is not the token of a player in this match; without it, the message must come from the address of one player only, or name its player_id";
        return errorReply(request, head, "E012", reason, { action: message.message_type });
      }
      const reason = seat ? await rejectionOf(seat, kind, message) : NOT_AWAITED;
      const status = reason === null ? "ACCEPTED" : "IGNORED";
      return replyTo(request, head, "ACK", { status, reason, success: reason === null });
    };
  /**
   * Passes an answer on with the token of its player. The other fields are left to the rules of the referee. Returns why the referee has not taken the answer, or
   * null.
   */
  const rejectionOf = async (
    { player, matchId, refereeEndpoint }: Seated,
    kind: keyof typeof ANSWER_METHODS,
    message: object,
  ): Promise<string | null> => {
    const params = { ...message, match_id: matchId, auth_token: dialectToken(player.id, player.tokenHash) };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: ANSWER_METHODS[kind], params });
    const reply = await post(refereeEndpoint, body, { timeoutMs: ACKNOWLEDGE_TIMEOUT_MS }).catch(asRefused);
    if (!reply.ok) return "the referee of this match does not answer";
    return statusIn(reply.value.text) === "ACCEPTED" ? null : NOT_AWAITED;
  };
  return { join_ack: handler("join_ack"), move: handler("move") };
}

/** The seats of players of other dialects in the matches that referees have; in the match of an id, if it is not null. */
function seatsOf(projections: Projections, matchId: string | null): readonly Seated[] {
  const running = projections.leagues().filter(({ status }) => status === "running");
  const matches = running.flatMap(currentMatches).filter((match) => matchId === null || match.matchId === matchId);
  return matches.flatMap((match) => {
    const refereeEndpoint = projections.agent(match.refereeId ?? "")?.endpoint;
    if (match.status !== "assigned" || refereeEndpoint === undefined) return [];
    return match.players.flatMap((id) => {
      const player = projections.agent(id);
      return player && player.dialect !== NATIVE ? [{ player, matchId: match.matchId, refereeEndpoint }] : [];
    });
  });
}

/** Returns the only seat whose player has the address of a message, or the one that the message names. */
async function seatAt(
  { isFromEndpoint }: Pick<Registration, "isFromEndpoint">,
  seats: readonly Seated[],
  remoteAddress: string,
  ids: readonly string[],
): Promise<Seated | undefined> {
  const isNear = await Promise.all(seats.map(({ player }) => isFromEndpoint(player.endpoint, remoteAddress)));
  const near = seats.filter((_, index) => isNear[index]);
  return near.find(({ player }) => ids.includes(player.id)) ?? (near.length === 1 ? near[0] : undefined);
}

const senderIds = (message: Readonly<Record<string, unknown>>): readonly string[] =>
  ["sender", "player_id"].flatMap((field) => {
    const named = firstText([message], [field]);
    return named === null ? [] : [idOfSender(named)];
  });

/** The status in the reply of a referee; null if it has none. */
function statusIn(text: string): unknown {
  try {
    const reply: unknown = JSON.parse(text);
    const result = isFields(reply) ? reply.result : null;
    return isFields(result) ? first([result], ["status"]) : null;
  } catch {
    return null;
  }
}

/** Answers LEAGUE_QUERY of a registered player. */
function answerQuery(projections: Projections, request: ForeignRequest, head: ReplyHead): ForeignMessage {
  const { message } = request;
  const senders = sendersOf(request);
  const player = playerAmong(projections, senders);
  const type = String(first([message], ["query_type", "query"]) ?? "GET_STANDINGS").toUpperCase();
  const context = { action: "LEAGUE_QUERY", query_type: type };
  if (!player) {
    return errorReply(request, head, "E005", `${senders[0] ?? "the sender"} is not a registered player`, context);
  }
  const token = firstText([message], ["auth_token", "token"]);
  if (token === null) return errorReply(request, head, "E011", "auth_token is missing", context);
  const isOwn = isDialectToken(token, player.id, player.tokenHash) || projections.authenticate(token) === player;
  if (!isOwn) return errorReply(request, head, "E012", `auth_token is not the token of ${player.id}`, context);
  const league = leagueOf(projections, player, firstText([message], ["league_id"]));
  if (!league) return errorReply(request, head, "E005", `${player.id} is in no league`, context);
  const params = isFields(message.query_params) ? message.query_params : {};
  const subject = firstText([params, message], ["player_id"]) ?? player.id;
  const data = dataOf(projections, league, type, subject);
  const fields = { query_type: type, success: data !== null, league_id: league.leagueId, data: data ?? {}, ...data };
  const error = data === null ? { error: `query_type: ${type} is not one of ${QUERIES.join(", ")}` } : {};
  return replyTo(request, head, "LEAGUE_QUERY_RESPONSE", { ...fields, ...error });
}

/**
 * Acknowledges a message that the manager does not need, such as AGENT_READY_REQUEST or a heartbeat: a program that gets an error may give up before its
 * first match. Returns null, so that the message is rejected, if no registered player has sent it and it does not only say that a program is there.
 */
function acknowledge(
  projections: Pick<Projections, "agent">,
  request: ForeignRequest,
  head: ReplyHead,
): ForeignMessage | null {
  const type = firstText([request.message], ["message_type", "type"]);
  if (type === null || type.length > MAX_TYPE_CHARACTERS) return null;
  const player = playerAmong(projections, sendersOf(request));
  if (!player && !/READY|HEARTBEAT|PING|HELLO/i.test(type)) return null;
  const answer = /_REQUEST$/.test(type) ? type.replace(/_REQUEST$/, "_RESPONSE") : "ACK";
  const fields = { status: "ACCEPTED", success: true, ...(player && { player_id: player.id }) };
  return replyTo(request, head, answer, { ...fields, original_message_type: type });
}

/** The answer has the type in several places, so a long one would make it large. */
const MAX_TYPE_CHARACTERS = 100;

const sendersOf = ({ message }: ForeignRequest): readonly string[] =>
  ["sender", "player_id"].flatMap((field) => firstText([message], [field]) ?? []);

const playerAmong = (projections: Pick<Projections, "agent">, senders: readonly string[]): Agent | undefined =>
  senders.map((sender) => projections.agent(idOfSender(sender))).find((agent) => agent?.kind === "player") ?? undefined;

const QUERIES = ["GET_STANDINGS", "GET_SCHEDULE", "GET_NEXT_MATCH", "GET_PLAYER_STATS"] as const;

function leagueOf(projections: Projections, player: Agent, leagueId: string | null): League | null {
  const named = leagueId === null ? null : projections.league(leagueId);
  if (named) return named;
  const own = projections.leagues().filter(({ entrants }) => entrants.has(player.id));
  return own.find(({ status }) => status === "running") ?? own[0] ?? null;
}

function dataOf(projections: Projections, league: League, type: string, playerId: string): object | null {
  const standings = projections.standings(league);
  const matches = league.rounds.flatMap((round) => round.matches);
  switch (type) {
    case "GET_STANDINGS":
      return { standings };
    case "GET_SCHEDULE":
      return { schedule: matches.map((match) => shownMatch(league, match, projections)) };
    case "GET_NEXT_MATCH": {
      const next = matches.find(({ status, players }) => status !== "completed" && players.includes(playerId));
      if (!next) return { next_match: null };
      const opponent_id = next.players.find((id) => id !== playerId) ?? null;
      return { next_match: { ...shownMatch(league, next, projections), opponent_id } };
    }
    case "GET_PLAYER_STATS":
      return { stats: standings.find(({ player_id }) => player_id === playerId) ?? null };
    default:
      return null;
  }
}

function shownMatch(league: League, match: Match, projections: Projections): object {
  const { league_id: _, ...row } = scheduleRow(league, match);
  const [player_A_id = null, player_B_id = null] = match.players;
  const referee_endpoint = projections.agent(match.refereeId ?? "")?.endpoint ?? null;
  return { ...row, game_type: withoutVersion(league.game), player_A_id, player_B_id, referee_endpoint };
}
