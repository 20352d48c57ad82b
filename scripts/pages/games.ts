import type { TestHost } from "../../referee/rest/testing/host.ts";

/** The links of the games at the session host, by the name of the game. */
export interface GameLinks {
  /** The page of the person who is to move, or who is waiting. */
  readonly person: Readonly<Record<string, string>>;
  /** The page of the other person. */
  readonly opponent: Readonly<Record<string, string>>;
  /** The page for spectators. */
  readonly spectator: Readonly<Record<string, string>>;
}

interface GameSetup {
  readonly name: string;
  readonly template: string;
  readonly options?: object;
  readonly play_as: string;
  /** Moves of the two people, the person of `play_as` first. */
  readonly moves: readonly unknown[];
}

/** Games between two people at one host, with the moves that have been made. */
const GAMES: readonly GameSetup[] = [
  {
    name: "chess",
    template: "chess",
    play_as: "white",
    moves: ["e2e4", "e7e5", "g1f3", "b8c6", "f1b5", "a7a6", "b5c6", "d7c6"],
  },
  {
    ...{ name: "chess-check", template: "chess", play_as: "white", moves: ["f2f3", "e7e5", "a2a3", "d8h4"] },
  },
  { name: "chess-over", template: "chess", play_as: "white", moves: ["f2f3", "e7e5", "g2g4", "d8h4"] },
  { name: "connect-four", template: "connect_four", play_as: "red", moves: [4, 4, 3, 5] },
  { name: "connect-four-over", template: "connect_four", play_as: "red", moves: [4, 5, 4, 5, 4, 5, 4] },
  { name: "tic-tac-toe", template: "tic_tac_toe", play_as: "x", moves: ["b2", "a1"] },
  { name: "rps", template: "rps", options: { best_of: 5 }, play_as: "player_1", moves: ["rock", "paper"] },
  { name: "even-odd", template: "even_odd", play_as: "EVEN", moves: [] },
  { name: "kuhn-poker", template: "kuhn_poker", play_as: "player_1", moves: ["bet"] },
];

/** Creates games, by default all, and makes their moves. */
export async function startGames(host: TestHost, names = GAMES.map(({ name }) => name)): Promise<GameLinks> {
  const links = { person: {}, opponent: {}, spectator: {} } as Record<keyof GameLinks, Record<string, string>>;
  for (const { name, template, options, play_as, moves } of GAMES.filter((one) => names.includes(one.name))) {
    const body = { template, play_as, opponent: "human", name: "Zoë", ...(options && { options }) };
    const { json, status, text } = await host.call("POST", "/api/games", { body });
    if (status !== 201) throw new Error(`${name}: ${text}`);
    const seats: readonly string[] = [json.link, json.opponent_link];
    for (const [index, move] of moves.entries()) {
      const token = new URL(seats[index % 2] ?? "").hash.replace(/^#\w+=/, "");
      const moved = await host.call("POST", `/api/games/${json.game_id}/moves`, { token, body: { move } });
      if (moved.status !== 200) throw new Error(`${name}, ${move}: ${moved.text}`);
    }
    links.person[name] = seats[0] ?? "";
    links.opponent[name] = seats[1] ?? "";
    links.spectator[name] = `${host.url}/game/${json.game_id}`;
  }
  return links;
}
