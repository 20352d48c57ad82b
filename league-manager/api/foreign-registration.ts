import { findGameNamed, knownGameIds } from "#shared/games/registry.ts";
import type { Clock } from "#shared/lib/clock.ts";
import { cutTo, inOneLine } from "#shared/lib/text.ts";
import { bareHost, isLoopback, parseEndpoint } from "#shared/protocol/addresses.ts";
import { type DialectId, dialectToken, speechText } from "#shared/protocol/dialects/dialect.ts";
import { idOfSender } from "#shared/protocol/dialects/fields.ts";
import type { ForeignMessage } from "#shared/protocol/dialects/forms.ts";
import {
  errorReply,
  type ForeignRegistration,
  type ForeignRequest,
  type ReplyHead,
  registrationIn,
  replyTo,
} from "#shared/protocol/dialects/requests.ts";
import { fieldFaults } from "#shared/protocol/envelope.ts";
import { PlayerRegisterRequest } from "#shared/protocol/messages.ts";
import type { HttpContext } from "#shared/rpc/jsonrpc/http-context.ts";
import { type CreationLimit, TOO_MANY_CREATIONS } from "#shared/rpc/jsonrpc/rate-limit.ts";
import type { Agent } from "../agents/agent.ts";
import { nameWithPort } from "../agents/dialect-players.ts";
import type { League } from "../league/league.ts";
import type { Registration } from "./registration.ts";

export interface ForeignRegistrationContext {
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
    ...{ status: "REJECTED", success: false, player_id: null, auth_token: null, league_id: null, league_ids: [] },
    ...{ reason, error_code: code, ...(retryable && { retryable }) },
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
