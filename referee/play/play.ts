import { type Game, type Role, seesMore, type Viewer } from "#shared/games/game.ts";
import { findGameNamed, gameIds } from "#shared/games/registry.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import type { Ids } from "#shared/lib/ids.ts";
import { messageOf, ok, type Result } from "#shared/lib/result.ts";
import type { Session } from "#shared/session/session.ts";
import type { Statement } from "#shared/store/group-commit.ts";
import type { Writer } from "#shared/store/writer.ts";
import type { GameView } from "#shared/web/game-view.ts";
import type { AgentDirectory } from "../agents.ts";
import { type SessionHost, secretFrom } from "../sessions/host.ts";
import type { Kept } from "../sessions/live-sessions.ts";
import { type Rejection, rejected } from "../sessions/rejections.ts";
import type { PersonSeat, PlaySeat, SeatKind, SeatTable } from "../sessions/seats.ts";
import { gameView } from "../views/game-view.ts";

/** The player processes that can be asked to take a seat. */
export interface BotHouse {
  /** By name, built-in and known ones. */
  readonly names: readonly string[];
  /** Begins to play a seat of a session, also one that was begun before a restart. */
  play(sessionId: string, role: Role, bot: string): void;
}

export interface PlayDesk {
  readonly host: SessionHost;
  readonly agents: AgentDirectory;
  readonly seats: SeatTable;
  readonly writer: Writer;
  readonly bots: BotHouse;
  readonly ids: Ids;
  /** Where people find the pages, e.g. `http://127.0.0.1:8001`. */
  readonly pagesUrl: () => string;
  /** Shows a line to the people at this host, where no agent reads it; it may hold a secret. */
  readonly tellPeople: (line: string) => void;
}

export interface NewGame {
  /** "chess.v1", or just "chess". */
  readonly template: string;
  readonly options?: unknown;
  /** The creator's role; the game's first one without it. */
  readonly playAs?: string | undefined;
  /** "agent" leaves the other seats open for joinGame, "human" makes links for people, else a bot's name. */
  readonly opponent: string;
  readonly creator: { readonly kind: "agent" | "human"; readonly name?: string | undefined };
  /** The bearer token that the creator called with: its seat is bound to it. */
  readonly bearer: string | null;
}

export interface NewTable {
  readonly game: Game;
  readonly options: unknown;
  readonly placed: readonly PlaySeat[];
  /** Writes what belongs to the game, in its transaction. */
  readonly alongside?: (sessionId: string, seed: string) => readonly Statement[];
}

/** A seat that was just taken. Its token is returned once; a person's token is also in the link of its page. */
export interface TakenSeat {
  readonly gameId: string;
  readonly role: Role;
  readonly token: string;
}

/** A game and the role of its caller. */
export interface Seated {
  readonly kept: Kept;
  readonly role: Role;
}

type Answer<T> = Result<T, Rejection>;

/** Games that people and agents make for themselves, on the session host: who sits where, and who may act for whom. */
export interface Play {
  create(request: NewGame): Promise<Answer<TakenSeat>>;
  /** A game whose seats are taken already: options parsed by the game. */
  open(table: NewTable): Promise<Session>;
  /** Takes an open seat; the first one when no role is named. */
  join(
    gameId: string,
    joiner: { readonly role?: string | undefined; readonly name?: string | undefined; readonly bearer: string | null },
  ): Promise<Answer<TakenSeat>>;
  /** The seat that a token holds: its own, or one that its taker's bearer token is bound to. */
  seatOf(gameId: string, token: string | null): Answer<Seated>;
  /** A game as a seat or a spectator may see it; null for sessions that are nobody's to watch. */
  look(gameId: string, token: string | null): { readonly kept: Kept; readonly viewer: Viewer } | null;
  view(kept: Kept, viewer: Viewer): GameView;
  /** The same of a session as it was when its log was `rows`. */
  viewOf(session: Session, viewer: Viewer, rows: Kept["rows"]): GameView;
  seats(gameId: string): readonly PlaySeat[];
  /** Whether the players of a league match are still being invited. */
  isInviting(gameId: string): boolean;
  /** The page of a game; for a person's seat with what lets its owner move. */
  link(gameId: string, role?: Role): string;
  /**
   * The links of the people who play, by role, for the creator of the game. Null for a seat that sees what the creator may not know: its link
   * is shown only to the people at this host.
   */
  personLinks(gameId: string, asker: Role): Readonly<Record<Role, string | null>>;
  /** The one person's seat of a game, for the board in the host of the agent that made the game. */
  userSeat(gameId: string, asker: Role): PersonSeat | null;
  /** Lets the bots of unfinished games go on, after a restart. */
  resume(): void;
}

export function createPlay(desk: PlayDesk): Play {
  const { host, agents, seats, writer, bots, ids } = desk;
  /** Seats that are being taken now. */
  const joining = new Set<string>();
  const noSuchGame = (gameId: string) =>
    rejected("UNKNOWN_SESSION", `No game ${gameId.slice(0, 100)} here`, { game_id: gameId.slice(0, 100) });
  const seatToken = (gameId: string, role: Role): string => host.secret(gameId, seatPurpose(role)) ?? "";

  /**
   * Agents of one host may share a bearer token. It stands for a seat that it took only where no other agent can be meant: not when it
   * took several, and not while one may still join with it.
   */
  const roleOf = (kept: Kept, token: string): Role | "unclear" | null => {
    const agentId = agents.holderOf(token);
    const own = Object.entries(kept.session.participants).find(([, id]) => id === agentId);
    if (own) return own[0];
    const hash = sha256Hex(token);
    const placed = seats.of(kept.session.id);
    const [bound, another] = placed.filter(({ holder }) => holder === hash);
    if (!bound) return null;
    return another || placed.some(({ joined }) => !joined) ? "unclear" : bound.role;
  };

  const link: Play["link"] = (gameId, role) =>
    `${desk.pagesUrl()}/game/${gameId}${role === undefined ? "" : `#seat=${seatToken(gameId, role)}`}`;

  /** The people of a game, for whoever made it. */
  const peopleFor = (gameId: string, asker: Role): readonly PlaySeat[] => {
    const placed = seats.of(gameId);
    const made = placed.some(({ role, isCreator }) => role === asker && isCreator);
    return made ? placed.filter(({ kind }) => kind === "human") : [];
  };

  const viewOf: Play["viewOf"] = (session, viewer, rows) =>
    gameView(session, viewer, rows, seats.of(session.id), host.lobby);

  const look: Play["look"] = (gameId, token) => {
    const kept = host.read(gameId);
    if (!kept) return null;
    const role = token === null ? null : roleOf(kept, token);
    if (role !== null && role !== "unclear") return { kept, viewer: role };
    const { actedBy, spectators } = kept.access;
    // A league match may be watched by anyone, as its resource game://state is.
    return spectators === "public" || actedBy === "driver" ? { kept, viewer: "spectator" } : null;
  };

  const isWithheld = (gameId: string, role: Role, asker: Role): boolean => {
    const game = host.read(gameId)?.session.game;
    return game === undefined || seesMore(game, role, asker);
  };

  const personLinks: Play["personLinks"] = (gameId, asker) => {
    const linkOf = (role: Role) => (isWithheld(gameId, role, asker) ? null : link(gameId, role));
    return Object.fromEntries(peopleFor(gameId, asker).map(({ role }) => [role, linkOf(role)]));
  };

  /** Shows the people at this host the links that are withheld from the agent that created the game. */
  const tellWithheld = (gameId: string, game: Game, asker: Role): void => {
    for (const [role, told] of Object.entries(personLinks(gameId, asker))) {
      if (told === null) {
        desk.tellPeople(
          `${game.info.name}: whoever plays ${role.replaceAll("_", " ")} moves at ${link(gameId, role)} (keep it from agents)`,
        );
      }
    }
  };

  const open: Play["open"] = ({ game, options, placed, alongside = () => [] }) => {
    const seed = ids.token();
    return host.create({
      game,
      options,
      seed,
      // Derived, because a person's link has to be told again; whoever joins gets a token of its own.
      seats: placed.map(({ role }) => ({
        role,
        agentId: ids.uuid(),
        tokenHash: sha256Hex(secretFrom(seed, seatPurpose(role))),
      })),
      actedBy: "seats",
      spectators: "public",
      alongside: (id) => [...placed.map((seat) => seats.adding(id, seat)), ...alongside(id, seed)],
    });
  };

  return {
    look,
    open,
    async create({ template, options, playAs, opponent, creator, bearer }) {
      const game = findGameNamed(template);
      if (!game) return rejected("UNKNOWN_GAME", `No game "${template}"; there are ${gameIds.join(", ")}`);
      const parsed = game.options.safeParse(options ?? {});
      if (!parsed.success) return rejected("INVALID_OPTIONS", `options: ${messageOf(parsed.error)}`);
      const role = playAs ?? game.roles[0] ?? "";
      if (!game.roles.includes(role)) {
        return rejected("UNKNOWN_ROLE", `play_as: ${game.id} has the roles ${game.roles.join(" and ")}`);
      }
      const kind: SeatKind = opponent === "agent" || opponent === "human" ? opponent : "bot";
      if (kind === "bot" && !bots.names.includes(opponent)) {
        const known = bots.names.join(", ");
        return rejected("UNKNOWN_BOT", `opponent: no bot "${opponent}"; say agent, human or one of ${known}`);
      }
      const holder = hashOf(bearer);
      const placed = game.roles.map(
        (one): PlaySeat =>
          one === role
            ? { role, kind: creator.kind, name: creator.name ?? creator.kind, joined: true, isCreator: true, holder }
            : {
                ...{ role: one, kind, name: kind === "bot" ? opponent : kind },
                ...{ joined: kind !== "agent", isCreator: false, holder: null },
              },
      );
      const { id } = await open({ game, options: parsed.data, placed });
      if (creator.kind === "agent") tellWithheld(id, game, role);
      for (const seat of placed) if (seat.kind === "bot") bots.play(id, seat.role, seat.name);
      return ok({ gameId: id, role, token: seatToken(id, role) });
    },

    async join(gameId, { role, name, bearer }) {
      const kept = host.read(gameId);
      const placed = kept ? seats.of(gameId) : [];
      if (!kept || placed.length === 0) return noSuchGame(gameId);
      const key = (one: PlaySeat) => `${gameId}/${one.role}`;
      const isOpen = (one: PlaySeat) => !one.joined && !joining.has(key(one));
      const open = kept.session.game.roles.flatMap((one) => placed.filter((seat) => seat.role === one && isOpen(seat)));
      const seat = open.find((one) => role === undefined || one.role === role);
      if (kept.session.status === "completed") return rejected("NO_OPEN_SEAT", "The game is over");
      if (!seat) return rejected("NO_OPEN_SEAT", whyFull(kept.session.game, role, open));
      joining.add(key(seat));
      try {
        const token = ids.token();
        const taken = { ...seat, name: name ?? seat.name, holder: hashOf(bearer) };
        await writer.commit(seats.joining(gameId, taken, kept.session.participants[seat.role] ?? "", sha256Hex(token)));
        host.lobby.seatTaken(gameId);
        return ok({ gameId, role: seat.role, token });
      } finally {
        joining.delete(key(seat));
      }
    },

    seatOf(gameId, token) {
      const kept = host.read(gameId);
      if (!kept) return noSuchGame(gameId);
      const role = token === null ? null : roleOf(kept, token);
      if (role === "unclear") {
        const why = "other agents with your bearer token play this game, or may join it";
        return rejected("AMBIGUOUS_SEAT", `${why}: say seat_token`);
      }
      if (role === null && look(gameId, null) === null) return noSuchGame(gameId);
      if (role === null) {
        const fault = token === null ? "is missing" : "holds no seat of this game";
        return rejected("NO_SEAT", `seat_token: ${fault}; createGame and joinGame give it, and it is told once`);
      }
      return ok({ kept, role });
    },

    view: ({ session, rows }, viewer) => viewOf(session, viewer, rows),
    viewOf,
    seats: seats.of,
    isInviting: host.lobby.isInviting,
    link,
    personLinks,
    userSeat(gameId, asker) {
      const [person, another] = peopleFor(gameId, asker);
      if (!person || another) return null;
      const { role } = person;
      return { role, token: seatToken(gameId, role), isWithheld: isWithheld(gameId, role, asker) };
    },
    resume() {
      for (const sessionId of seats.withBots()) {
        for (const { kind, role, name } of seats.of(sessionId)) if (kind === "bot") bots.play(sessionId, role, name);
      }
    },
  };
}

const seatPurpose = (role: Role): string => `seat/${role}`;

const hashOf = (bearer: string | null): string | null => (bearer === null ? null : sha256Hex(bearer));

function whyFull(game: Game, role: string | undefined, open: readonly PlaySeat[]): string {
  if (role !== undefined && !game.roles.includes(role)) return `${game.id} has the roles ${game.roles.join(" and ")}`;
  return open.length === 0
    ? "Every seat of this game is taken"
    : `The seat ${role} is taken; open: ${open.map((one) => one.role).join(", ")}`;
}
