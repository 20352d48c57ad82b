import { z } from "zod";
import { type Game, type Role, seesMore, spoken, type Viewer } from "#shared/games/game.ts";
import type { Opponent } from "#shared/games/new-game-choices.ts";
import { findGameNamed, knownGameIds } from "#shared/games/registry.ts";
import type { Clock } from "#shared/lib/clock.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import type { Ids } from "#shared/lib/ids.ts";
import { messageOf, ok, type Result } from "#shared/lib/result.ts";
import { readWritten, type ValueSchema } from "#shared/lib/written-values.ts";
import type { Session } from "#shared/session/session.ts";
import type { Statement, Writer } from "#shared/store/writer.ts";
import { type GameView, GUEST } from "#shared/web/game-view.ts";
import type { AgentDirectory } from "../sessions/agent-tokens.ts";
import { type SessionHost, type StoredSession, secretFrom } from "../sessions/host.ts";
import { type Rejection, rejected } from "../sessions/rejections.ts";
import type { PersonSeat, PlaySeat, SeatKind, SeatTable } from "../sessions/seats.ts";
import { gameView } from "../views.ts";

/** The games outside of leagues: their seats, and the callers that may act for a seat. */
export interface Play {
  /** Creates a game and gives its creator a seat. */
  create(request: NewGame): Promise<Result<TakenSeat, Rejection>>;
  /** Opens a game whose seats are all assigned. */
  open(game: AssignedGame): Promise<Session>;
  /** Takes an open seat; by default the first one. */
  join(gameId: string, joiner: Joiner): Promise<Result<TakenSeat, Rejection>>;
  /** The seat of a token, which is the token of the seat or a bearer token to which the seat is bound. */
  seatOf(gameId: string, token: string | null): Result<SeatAccess, Rejection>;
  /** A session with the viewer as which the holder of a token may read it; null if the caller may not read it. */
  accessTo(gameId: string, token: string | null): { readonly stored: StoredSession; readonly viewer: Viewer } | null;
  /** The view of a game for the pages, boards and tools. */
  view(stored: StoredSession, viewer: Viewer): GameView;
  /** The view of a session when its log was `rows`. */
  viewOf(session: Session, viewer: Viewer, rows: StoredSession["rows"]): GameView;
  /** The seats of a game; empty for other sessions. */
  seats(gameId: string): readonly PlaySeat[];
  /** Whether the players of a league match are still being invited. */
  isInviting(gameId: string): boolean;
  /** The URL of the page of a game. With a role it contains the token of that seat. */
  link(gameId: string, role?: Role): string;
  /**
   * The links of the people who play, by role, for the creator of the game. null for a seat that sees information that the creator may not
   * know: its link is shown only at the terminal of this host.
   */
  personLinks(gameId: string, asker: Role): Readonly<Record<Role, string | null>>;
  /** The seat of the only person in a game, for the board in the MCP host of the agent that created the game. */
  userSeat(gameId: string, asker: Role): PersonSeat | null;
  /** Resumes the bots of unfinished games after a restart. */
  resume(): void;
}

export function createPlay(context: PlayContext): Play {
  const { host, seats, bots, clock } = context;
  /** The keys of seats that are being taken. */
  const joining = new Set<string>();
  const viewOf: Play["viewOf"] = (session, viewer, rows) =>
    gameView(session, viewer, rows, seats.of(session.id), host.lobby, clock.now());
  return {
    create: (request) => createGame(context, request),
    open: (game) => openGame(context, game),
    join: (gameId, joiner) => joinGame(context, joining, gameId, joiner),
    seatOf: (gameId, token) => seatOf(context, gameId, token),
    accessTo: (gameId, token) => accessTo(context, gameId, token),
    view: ({ session, rows }, viewer) => viewOf(session, viewer, rows),
    viewOf,
    seats: seats.of,
    isInviting: host.lobby.isInviting,
    link: (gameId, role) => linkOf(context, gameId, role),
    personLinks: (gameId, asker) => personLinks(context, gameId, asker),
    userSeat: (gameId, asker) => userSeat(context, gameId, asker),
    resume() {
      for (const sessionId of seats.withBots()) {
        for (const { kind, role, name } of seats.of(sessionId)) if (kind === "bot") bots.play(sessionId, role, name);
      }
    },
  };
}

/** The bots that can take a seat. */
export interface AvailableBots {
  /** The names of the built-in bots, of the bots with known endpoints and of the engines. */
  readonly names: readonly string[];
  /** Whether a bot of this name plays a game. */
  plays(name: string, gameId: string): boolean;
  /** The bots that a person can choose in a game, the weakest first. */
  opponentsIn(gameId: string): readonly Opponent[];
  /** Starts to play a seat of a session, which may be older than this process. */
  play(sessionId: string, role: Role, bot: string): void;
}

/** The parts that games outside of leagues use. */
export interface PlayContext {
  readonly host: SessionHost;
  readonly agents: AgentDirectory;
  readonly seats: SeatTable;
  readonly writer: Writer;
  readonly bots: AvailableBots;
  readonly ids: Ids;
  readonly clock: Pick<Clock, "now">;
  /** The URL of the pages, e.g. `http://127.0.0.1:8001`. */
  readonly pagesUrl: () => string;
  /** Shows a line at the terminal of this host. The line may contain a secret, so it must not be logged. */
  readonly showAtTerminal: (line: string) => void;
}

/** A request to create a game. */
interface NewGame {
  /** The id or the name of a game: "chess.v1" or "chess". */
  readonly template: string;
  readonly options?: Readonly<Record<string, unknown>> | undefined;
  /** The role of the creator; by default the first role of the game. */
  readonly playAs?: string | undefined;
  /** "agent" leaves the other seats open for joinGame, "human" creates links for people, another value is the name of a bot. */
  readonly opponent: string;
  readonly creator: { readonly kind: "agent" | "human"; readonly name?: string | undefined };
  /** The bearer token of the creator's call, to which its seat is bound. */
  readonly bearer: string | null;
}

/** A game whose seats are all assigned. Its options are parsed by the game. */
interface AssignedGame {
  readonly game: Game;
  readonly options: unknown;
  readonly assignedSeats: readonly PlaySeat[];
  /** Statements for the transaction that creates the game. */
  readonly alongside?: (sessionId: string, seed: string) => readonly Statement[];
}

/** A seat that was just taken. The token is returned only once; the token of a person is also part of the link to its page. */
export interface TakenSeat {
  readonly gameId: string;
  readonly role: Role;
  readonly token: string;
}

/** The name of a player without a name. */
const unnamed = (kind: SeatKind): string => (kind === "human" ? GUEST : kind);

/** Creates a game, gives its creator a seat and starts its bots. */
async function createGame(
  context: PlayContext,
  { template, options, playAs, opponent, creator, bearer }: NewGame,
): Promise<Result<TakenSeat, Rejection>> {
  const { bots } = context;
  const game = findGameNamed(template);
  if (!game) return rejected("UNKNOWN_GAME", `No game "${template}"; there are ${knownGameIds().join(", ")}`);
  const isOfPeople = creator.kind === "human" && opponent === "human";
  const defaults = isOfPeople ? game.info.optionsOfPeople : {};
  const schema = z.toJSONSchema(game.options, { io: "input", unrepresentable: "any" }) as ValueSchema;
  const parsed = game.options.safeParse(readWritten(schema, { ...defaults, ...options }));
  if (!parsed.success) return rejected("INVALID_OPTIONS", `options: ${messageOf(parsed.error)}`);
  const role = playAs ?? game.roles[0] ?? "";
  if (!game.roles.includes(role)) {
    return rejected("UNKNOWN_ROLE", `play_as: ${game.id} has the roles ${game.roles.join(" and ")}`);
  }
  const kind: SeatKind = opponent === "agent" || opponent === "human" ? opponent : "bot";
  if (kind === "bot" && !bots.names.includes(opponent)) {
    const known = bots.names.join(", ");
    return rejected("UNKNOWN_BOT", `opponent: no bot "${opponent}"; give agent, human or one of ${known}`);
  }
  if (kind === "bot" && !bots.plays(opponent, game.id)) {
    const able = bots.names.filter((name) => bots.plays(name, game.id)).join(", ");
    return rejected("UNKNOWN_BOT", `opponent: the bot "${opponent}" does not play ${game.id}; give one of ${able}`);
  }
  const holder = hashOf(bearer);
  const assignedSeats = game.roles.map(
    (seat): PlaySeat =>
      seat === role
        ? {
            role,
            kind: creator.kind,
            name: creator.name ?? unnamed(creator.kind),
            joined: true,
            isCreator: true,
            holder,
          }
        : {
            role: seat,
            kind,
            name: kind === "bot" ? opponent : unnamed(kind),
            joined: kind !== "agent",
            isCreator: false,
            holder: null,
          },
  );
  const { id } = await openGame(context, { game, options: parsed.data, assignedSeats });
  if (creator.kind === "agent") showWithheldLinks(context, id, game, role);
  for (const seat of assignedSeats) if (seat.kind === "bot") bots.play(id, seat.role, seat.name);
  return ok({ gameId: id, role, token: seatToken(context.host, id, role) });
}

/** Opens a game whose seats are all assigned. */
export function openGame(
  { host, seats, ids }: PlayContext,
  { game, options, assignedSeats, alongside = () => [] }: AssignedGame,
): Promise<Session> {
  const seed = ids.token();
  return host.create({
    game,
    options,
    seed,
    // The tokens are derived from the seed, because the link of a person is shown again later. An agent that joins gets a new token.
    seats: assignedSeats.map(({ role }) => ({
      role,
      agentId: ids.uuid(),
      tokenHash: sha256Hex(secretFrom(seed, seatPurpose(role))),
    })),
    actedBy: "seats",
    spectators: "public",
    alongside: (id) => [...assignedSeats.map((seat) => seats.adding(id, seat)), ...alongside(id, seed)],
  });
}

/** The SHA-256 of a bearer token; null without one. */
const hashOf = (bearer: string | null): string | null => (bearer === null ? null : sha256Hex(bearer));

/** A request of an agent to take a seat. */
interface Joiner {
  /** By default the first open seat. */
  readonly role?: string | undefined;
  readonly name?: string | undefined;
  /** The bearer token of the call, to which the seat is bound. */
  readonly bearer: string | null;
}

/** Takes an open seat of a game. `joining` contains the keys of the seats that are being taken. */
async function joinGame(
  { host, seats, ids, writer }: PlayContext,
  joining: Set<string>,
  gameId: string,
  { role, name, bearer }: Joiner,
): Promise<Result<TakenSeat, Rejection>> {
  const stored = host.read(gameId);
  const gameSeats = stored ? seats.of(gameId) : [];
  if (!stored || gameSeats.length === 0) return noSuchGame(gameId);
  const key = ({ role }: PlaySeat) => `${gameId}/${role}`;
  const isOpen = (seat: PlaySeat) => !seat.joined && !joining.has(key(seat));
  const open = stored.session.game.roles.flatMap((one) =>
    gameSeats.filter((seat) => seat.role === one && isOpen(seat)),
  );
  const seat = open.find((one) => role === undefined || one.role === role);
  if (stored.session.status === "completed") return rejected("NO_OPEN_SEAT", "The game is over");
  if (!seat) return rejected("NO_OPEN_SEAT", reasonFor(stored.session.game, role, open));
  joining.add(key(seat));
  try {
    const token = ids.token();
    const taken = { ...seat, name: name ?? seat.name, holder: hashOf(bearer) };
    await writer.commit(seats.joining(gameId, taken, stored.session.participants[seat.role] ?? "", sha256Hex(token)));
    host.lobby.seatChanged(gameId);
    return ok({ gameId, role: seat.role, token });
  } finally {
    joining.delete(key(seat));
  }
}

/** The reason why a seat cannot be taken. */
function reasonFor(game: Game, role: string | undefined, open: readonly PlaySeat[]): string {
  if (role !== undefined && !game.roles.includes(role)) return `${game.id} has the roles ${game.roles.join(" and ")}`;
  return open.length === 0
    ? "Every seat of this game is taken"
    : `The seat ${role} is taken; open: ${open.map((one) => one.role).join(", ")}`;
}

/** Names a person who has no name, such as one who has followed an invitation. A name cannot be changed. */
export async function nameSeat(
  { host, seats, writer }: Pick<PlayContext, "host" | "seats" | "writer">,
  { stored: { session }, role }: SeatAccess,
  name: string,
): Promise<Result<void, Rejection>> {
  const seat = seats.of(session.id).find((one) => one.role === role);
  if (seat?.kind !== "human") return rejected("NOT_PERMITTED", "Only the seat of a person can be named");
  if (seat.name === name) return ok(undefined); // a request that is repeated because its answer was lost
  if (seat.name !== GUEST) return rejected("CONFLICT", "The player of this seat has a name already");
  await writer.commit([seats.naming(session.id, role, name)]);
  host.lobby.seatChanged(session.id);
  return ok(undefined);
}

/** A game and the role of its caller. */
export interface SeatAccess {
  readonly stored: StoredSession;
  readonly role: Role;
}

/** Returns the seat of a token, which is the token of the seat or a bearer token to which the seat is bound. Rejects unknown and ambiguous tokens. */
function seatOf(context: PlayContext, gameId: string, token: string | null): Result<SeatAccess, Rejection> {
  const stored = context.host.read(gameId);
  if (!stored) return noSuchGame(gameId);
  const role = token === null ? null : roleOf(context, stored, token);
  if (role === "ambiguous") {
    const reason = "other agents with your bearer token play this game or may join it";
    return rejected("AMBIGUOUS_SEAT", `${reason}: give seat_token`);
  }
  if (role === null && accessTo(context, gameId, null) === null) return noSuchGame(gameId);
  if (role === null) {
    const fault = token === null ? "is missing" : "holds no seat of this game";
    return rejected("NO_SEAT", `seat_token: ${fault}; createGame and joinGame return it, only once`);
  }
  return ok({ stored, role });
}

/** A session with the viewer as which the holder of a token may read it; null if the caller may not read it. */
function accessTo(
  context: PlayContext,
  gameId: string,
  token: string | null,
): { readonly stored: StoredSession; readonly viewer: Viewer } | null {
  const stored = context.host.read(gameId);
  if (!stored) return null;
  const role = token === null ? null : roleOf(context, stored, token);
  if (role !== null && role !== "ambiguous") return { stored, viewer: role };
  const { actedBy, spectators } = stored.access;
  // Any caller may watch a league match, which is also readable as the resource game://state.
  return spectators === "public" || actedBy === "driver" ? { stored, viewer: "spectator" } : null;
}

/**
 * The role of a token. Agents of one MCP host may share a bearer token. Such a token is ambiguous if it has taken several seats, or while
 * another agent may still join with it.
 */
function roleOf({ agents, seats }: PlayContext, stored: StoredSession, token: string): Role | "ambiguous" | null {
  const agentId = agents.holderOf(token);
  const ownSeat = Object.entries(stored.session.participants).find(([, id]) => id === agentId);
  if (ownSeat) return ownSeat[0];
  const hash = sha256Hex(token);
  const gameSeats = seats.of(stored.session.id);
  const [bound, another] = gameSeats.filter(({ holder }) => holder === hash);
  if (!bound) return null;
  return another || gameSeats.some(({ joined }) => !joined) ? "ambiguous" : bound.role;
}

/** The rejection for an unknown game. */
const noSuchGame = (gameId: string) =>
  rejected("UNKNOWN_SESSION", `No game ${gameId.slice(0, 100)} here`, { game_id: gameId.slice(0, 100) });

/** The purpose with which the token of a seat is derived from the seed. */
const seatPurpose = (role: Role): string => `seat/${role}`;

/** The token of a seat that no agent has joined. */
const seatToken = (host: SessionHost, gameId: string, role: Role): string =>
  host.secret(gameId, seatPurpose(role)) ?? "";

/** The URL of the page of a game. With a role it contains the token of that seat. */
export const linkOf = ({ host, pagesUrl }: PlayContext, gameId: string, role?: Role): string =>
  `${pagesUrl()}/game/${gameId}${role === undefined ? "" : `#seat=${seatToken(host, gameId, role)}`}`;

/** The links of people, by role, if the asker has created the game. null for a seat that sees information that the asker may not know. */
function personLinks(context: PlayContext, gameId: string, asker: Role): Readonly<Record<Role, string | null>> {
  const shownLink = (role: Role) => (isWithheld(context, gameId, role, asker) ? null : linkOf(context, gameId, role));
  return Object.fromEntries(peopleFor(context, gameId, asker).map(({ role }) => [role, shownLink(role)]));
}

/** The seat of the only person in a game, if the asker has created the game. */
function userSeat(context: PlayContext, gameId: string, asker: Role): PersonSeat | null {
  const [person, another] = peopleFor(context, gameId, asker);
  if (!person || another) return null;
  const { role } = person;
  return { role, token: seatToken(context.host, gameId, role), isWithheld: isWithheld(context, gameId, role, asker) };
}

/** Shows at the terminal the links that are withheld from the agent that created the game. */
function showWithheldLinks(context: PlayContext, gameId: string, game: Game, asker: Role): void {
  for (const [role, shownLink] of Object.entries(personLinks(context, gameId, asker))) {
    if (shownLink === null) {
      context.showAtTerminal(
        `${game.info.name}: link for the player of ${spoken(role)}: ${linkOf(context, gameId, role)} (do not share it with agents)`,
      );
    }
  }
}

/** The seats of people, if the asker has created the game. */
function peopleFor({ seats }: PlayContext, gameId: string, asker: Role): readonly PlaySeat[] {
  const gameSeats = seats.of(gameId);
  const hasCreated = gameSeats.some(({ role, isCreator }) => role === asker && isCreator);
  return hasCreated ? gameSeats.filter(({ kind }) => kind === "human") : [];
}

/** Whether a seat sees information that the asker may not know. */
function isWithheld({ host }: PlayContext, gameId: string, role: Role, asker: Role): boolean {
  const game = host.read(gameId)?.session.game;
  return game === undefined || seesMore(game, role, asker);
}
