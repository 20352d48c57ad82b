import type { Game } from "#shared/games/game.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { ok, type Result } from "#shared/lib/result.ts";
import { type Rejection, rejected } from "../sessions/rejections.ts";
import type { PlaySeat } from "../sessions/seats.ts";
import type { PlayContext } from "./context.ts";
import { hashOf, type TakenSeat } from "./creation.ts";
import { noSuchGame } from "./seat-access.ts";

/** A request of an agent to take a seat. */
export interface Joiner {
  /** By default the first open seat. */
  readonly role?: string | undefined;
  readonly name?: string | undefined;
  /** The bearer token of the call, to which the seat is bound. */
  readonly bearer: string | null;
}

/** Takes an open seat of a game. `joining` contains the keys of the seats that are being taken. */
export async function joinGame(
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
