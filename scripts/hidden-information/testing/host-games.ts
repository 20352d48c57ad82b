/** Games of a session host that are ready for the moment when something is hidden. */
import { createGame, personTokens, type TestSeat } from "../../../referee/play/testing/play.ts";
import type { TestHost } from "../../../referee/rest/testing/host.ts";
import type { Observer } from "../../../referee/rest/testing/observer.ts";
import type { Read, Scene } from "./table.ts";

/** The session host of the tests. */
export interface Hosted {
  readonly host: TestHost;
  readonly observer: Observer;
  /** The token of an agent without a seat. */
  readonly agentToken: string;
}

export interface HostWorld extends Read {
  readonly gameId: string;
}

/** A game that is ready for the moment when something is hidden. */
export interface Game {
  readonly gameId: string;
  /** The token of each seat. */
  readonly tokens: Readonly<Record<string, string>>;
  /** The answers with which the seats were given out. */
  readonly told: Readonly<Record<string, string>>;
  /** Makes the sealed choice; in other games an action in the open. */
  hide(): Promise<Moved | null>;
  /** Ends the turn. */
  close(): Promise<Moved>;
}

/** A move that was made: the answer to its role, and the tick after it. */
export interface Moved {
  readonly role: string;
  readonly answer: string;
  readonly tick: number;
}

/** A scene without what is the same in all scenes of the session host. */
export interface HostScene extends Pick<Scene, "hidden" | "holders" | "isRevealed" | "seats"> {
  /** Roles whose earlier views differ from game to game for another reason: their own card. */
  readonly without?: readonly string[];
  games(hosted: Hosted): Promise<Game[]>;
  tell?(texts: readonly string[], worlds: readonly HostWorld[], observer: Observer): boolean;
}

const byRole = <T>(seats: readonly TestSeat[], value: (seat: TestSeat) => T): Readonly<Record<string, T>> =>
  Object.fromEntries(seats.map((seat) => [seat.role, value(seat)]));

export const gameOf = (seats: readonly TestSeat[], hide: Game["hide"], close: Game["close"]): Game => ({
  ...{ gameId: seats[0]?.gameId ?? "", hide, close },
  tokens: byRole(seats, ({ token }) => token),
  told: byRole(seats, ({ answer }) => answer.raw),
});

export const moved = async (seat: TestSeat | undefined, move: unknown): Promise<Moved> => {
  const told = await seat?.move(move);
  if (!told || told.isError) throw new Error(`${move}: ${told?.text}`);
  return { role: seat?.role ?? "", answer: told.raw, tick: told.value.tick };
};

/** A game of an agent and a person, whose link is shown to the people at the host. */
export async function withPerson(host: TestHost, args: object): Promise<{ agent: TestSeat; token: string }> {
  const agent = await createGame(host, { ...args, opponent: "human" });
  return { agent, token: personTokens(host, agent.gameId).at(-1) ?? "" };
}
