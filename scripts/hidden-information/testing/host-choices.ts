/** Games of a session host in which one of two roles makes a sealed choice. */
import { play, twoSeats } from "../../../referee/play/testing/play.ts";
import type { TestHost } from "../../../referee/rest/testing/host.ts";
import { type Game, gameOf, type HostScene, type Moved, makeMove, withPerson } from "./host-games.ts";

export interface Choices {
  readonly template: string;
  readonly options: object;
  /** The roles of the first and the second seat. */
  readonly roles: readonly [string, string];
  /** The moves of the previous rounds, alternating between the seats. */
  readonly before: readonly unknown[];
  readonly choices: readonly unknown[];
  readonly reply: unknown;
}

/** One of two roles has chosen, and the other role has not. */
export function sealedChoice({ template, options, roles, before, choices, reply }: Choices, holder: 0 | 1): HostScene {
  const game = async (host: TestHost, choice: unknown): Promise<Game> => {
    const seats = await twoSeats(host, template, { options });
    await play(seats, before);
    return gameOf(
      seats,
      () => makeMove(seats[holder], choice),
      () => makeMove(seats[1 - holder], reply),
    );
  };
  return {
    hidden: "choice",
    holders: [roles[holder]],
    seats: roles,
    isRevealed: true,
    games: ({ host }) => Promise.all(choices.map((choice) => game(host, choice))),
  };
}

/** A person has chosen on the page, and the agent that created the game has not. */
export function personsChoice({ template, options, roles, choices, reply }: Choices): HostScene {
  const game = async (host: TestHost, choice: unknown): Promise<Game> => {
    const { agent, token } = await withPerson(host, { template, options, play_as: roles[0] });
    const hide = async (): Promise<Moved> => {
      const path = `/api/games/${agent.gameId}/moves`;
      const { status, text, json } = await host.call("POST", path, { token, body: { move: choice } });
      if (status !== 200) throw new Error(text);
      return { role: roles[1], answer: text, tick: json.tick };
    };
    const created = gameOf([agent], hide, () => makeMove(agent, reply));
    return { ...created, tokens: { ...created.tokens, [roles[1]]: token } };
  };
  return {
    hidden: "choice",
    holders: [roles[1]],
    seats: roles,
    isRevealed: true,
    games: ({ host }) => Promise.all(choices.map((choice) => game(host, choice))),
  };
}
