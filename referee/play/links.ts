import { type Game, type Role, seesMore, spoken } from "#shared/games/game.ts";
import type { SessionHost } from "../sessions/host.ts";
import type { PersonSeat, PlaySeat } from "../sessions/seats.ts";
import type { PlayContext } from "./context.ts";

/** The purpose with which the token of a seat is derived from the seed. */
export const seatPurpose = (role: Role): string => `seat/${role}`;

/** The token of a seat that no agent has joined. */
export const seatToken = (host: SessionHost, gameId: string, role: Role): string =>
  host.secret(gameId, seatPurpose(role)) ?? "";

/** The URL of the page of a game. With a role it contains the token of that seat. */
export const linkOf = ({ host, pagesUrl }: PlayContext, gameId: string, role?: Role): string =>
  `${pagesUrl()}/game/${gameId}${role === undefined ? "" : `#seat=${seatToken(host, gameId, role)}`}`;

/** The links of people, by role, if the asker has created the game. null for a seat that sees information that the asker may not know. */
export function personLinks(context: PlayContext, gameId: string, asker: Role): Readonly<Record<Role, string | null>> {
  const shownLink = (role: Role) => (isWithheld(context, gameId, role, asker) ? null : linkOf(context, gameId, role));
  return Object.fromEntries(peopleFor(context, gameId, asker).map(({ role }) => [role, shownLink(role)]));
}

/** The seat of the only person in a game, if the asker has created the game. */
export function userSeat(context: PlayContext, gameId: string, asker: Role): PersonSeat | null {
  const [person, another] = peopleFor(context, gameId, asker);
  if (!person || another) return null;
  const { role } = person;
  return { role, token: seatToken(context.host, gameId, role), isWithheld: isWithheld(context, gameId, role, asker) };
}

/** Shows at the terminal the links that are withheld from the agent that created the game. */
export function showWithheldLinks(context: PlayContext, gameId: string, game: Game, asker: Role): void {
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
