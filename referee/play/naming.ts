import type { Result } from "#shared/lib/result.ts";
import { ok } from "#shared/lib/result.ts";
import { GUEST } from "#shared/web/game-view.ts";
import { type Rejection, rejected } from "../sessions/rejections.ts";
import type { PlayContext } from "./context.ts";
import type { SeatAccess } from "./seat-access.ts";

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
