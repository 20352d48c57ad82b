import { z } from "zod";
import type { Game, Role } from "#shared/games/game.ts";
import { findGameNamed, knownGameIds } from "#shared/games/registry.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { messageOf, ok, type Result } from "#shared/lib/result.ts";
import { readWritten, type ValueSchema } from "#shared/lib/written-values.ts";
import type { Session } from "#shared/session/session.ts";
import type { Statement } from "#shared/store/writer.ts";
import { GUEST } from "#shared/web/game-view.ts";
import { secretFrom } from "../sessions/host.ts";
import { type Rejection, rejected } from "../sessions/rejections.ts";
import type { PlaySeat, SeatKind } from "../sessions/seats.ts";
import type { PlayContext } from "./context.ts";
import { seatPurpose, seatToken, showWithheldLinks } from "./links.ts";

/** A request to create a game. */
export interface NewGame {
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
export interface AssignedGame {
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
export async function createGame(
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
            ...{ role: seat, kind, name: kind === "bot" ? opponent : unnamed(kind) },
            ...{ joined: kind !== "agent", isCreator: false, holder: null },
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
export const hashOf = (bearer: string | null): string | null => (bearer === null ? null : sha256Hex(bearer));
