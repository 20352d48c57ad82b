import type { Role } from "#shared/games/game.ts";
import type { InvitationsDocument } from "#shared/web/play-documents.ts";
import type { PlayContext } from "../context.ts";
import { linkOf } from "../links.ts";

/** The maximum number of seats that are remembered as opened. */
const MAX_REMEMBERED = 10_000;

/** The seats whose links were opened, since this process has started. */
export class OpenedSeats {
  readonly #keys = new Set<string>();

  add(gameId: string, role: Role): void {
    const key = `${gameId}/${role}`;
    if (this.#keys.has(key)) return;
    const [oldest] = this.#keys;
    if (this.#keys.size >= MAX_REMEMBERED && oldest !== undefined) this.#keys.delete(oldest);
    this.#keys.add(key);
  }

  has(gameId: string, role: Role): boolean {
    return this.#keys.has(`${gameId}/${role}`);
  }
}

/**
 * How the other players of a game get their seats, for the seat of the person who has created it. Empty for other seats. A person that
 * creates a game hands out its links, also in games with hidden information.
 */
export function invitationsFor(
  context: PlayContext,
  opened: OpenedSeats,
  gameId: string,
  asker: Role,
): Omit<InvitationsDocument, "is_rematch"> {
  const seats = context.seats.of(gameId);
  const isCreator = seats.some(({ role, kind, isCreator }) => role === asker && kind === "human" && isCreator);
  const others = isCreator ? seats.filter(({ role }) => role !== asker) : [];
  const inOrder = (context.host.read(gameId)?.session.game.roles ?? []).flatMap((role) =>
    others.filter((seat) => seat.role === role),
  );
  return {
    people: inOrder
      .filter(({ kind }) => kind === "human")
      .map(({ role }) => ({
        role,
        link: linkOf(context, gameId, role),
        has_opened: opened.has(gameId, role),
      })),
    agents: inOrder.filter(({ kind, joined }) => kind === "agent" && !joined).map(({ role }) => ({ role })),
    mcp_url: `${context.pagesUrl()}/mcp`,
  };
}
