/** Games of a session host that are ready for the move that hides information. */
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

/** A game that is ready for the move that hides information. */
export interface Game {
  readonly gameId: string;
  /** The token of each seat. */
  readonly tokens: Readonly<Record<string, string>>;
  /** The answer to the request that took each seat. */
  readonly seatAnswers: Readonly<Record<string, string>>;
  /** Makes the sealed choice; in games without sealed choices, a public action. */
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

/** The properties of a scene that differ between the scenes of the session host. */
export interface HostScene extends Pick<Scene, "hidden" | "holders" | "isRevealed" | "seats"> {
  /** Roles that are not viewers of the scene, because their view contains their card, which differs between the worlds. */
  readonly without?: readonly string[];
  games(hosted: Hosted): Promise<Game[]>;
  discloses?(texts: readonly string[], worlds: readonly HostWorld[], observer: Observer): boolean;
}

const byRole = <T>(seats: readonly TestSeat[], value: (seat: TestSeat) => T): Readonly<Record<string, T>> =>
  Object.fromEntries(seats.map((seat) => [seat.role, value(seat)]));

export const gameOf = (seats: readonly TestSeat[], hide: Game["hide"], close: Game["close"]): Game => ({
  gameId: seats[0]?.gameId ?? "",
  hide,
  close,
  tokens: byRole(seats, ({ token }) => token),
  seatAnswers: byRole(seats, ({ answer }) => answer.raw),
});

/** Makes a move. Rejects if the move is rejected. */
export const makeMove = async (seat: TestSeat | undefined, move: unknown): Promise<Moved> => {
  const answer = await seat?.move(move);
  if (!answer || answer.isError) throw new Error(`${move}: ${answer?.text}`);
  return { role: seat?.role ?? "", answer: answer.raw, tick: answer.value.tick };
};

/** A game of an agent and a person, whose link is shown to the people at the host. */
export async function withPerson(host: TestHost, args: object): Promise<{ agent: TestSeat; token: string }> {
  const agent = await createGame(host, { ...args, opponent: "human" });
  return { agent, token: personTokens(host, agent.gameId).at(-1) ?? "" };
}
