import type { RunningAgent } from "#shared/runtime/agent.ts";
import { startTestHost, type TestHost } from "../../referee/rest/testing/host.ts";
import { controlledPlayer } from "../testing/controlled-player.ts";
import { startTestLeague, type TestPlayer } from "../testing/in-process-league.ts";
import { type ReportedLeague, startReportedLeagues } from "../testing/reported-leagues.ts";

/** The servers whose pages are shown. */
export interface Servers {
  /** The manager of LEAGUES. */
  readonly leagues: string;
  /** The operator token of that manager. */
  readonly operatorToken: string;
  /** The manager of a league whose only match is being played. */
  readonly live: string;
  /** The referee of that match. */
  readonly referee: string;
  /** A session host. */
  readonly host: string;
  readonly games: GameLinks;
  close(): Promise<void>;
}

/** The address of the manager for other machines. The pages show it with a QR code. */
const PUBLIC_ADDRESS = "http://192.168.0.7:8000/mcp";

/** Starts all servers in this process. */
export async function startServers(): Promise<Servers> {
  const [leagues, live, host] = await Promise.all([
    startReportedLeagues(LEAGUES, { endpoint: PUBLIC_ADDRESS }),
    startLiveLeague(),
    startTestHost(),
  ]);
  const games = await startGames(host);
  return {
    leagues: leagues.url,
    operatorToken: leagues.operatorToken,
    live: live.manager,
    referee: live.referee,
    host: host.url,
    games,
    async close() {
      await Promise.all([leagues.close(), live.close(), host.remove()]);
    },
  };
}

/** The moves of the match that is being played. White is to move. */
const MOVES = ["e2e4", "c7c5", "g1f3", "d7d6", "d2d4", "c5d4"];
/** Long enough for all screenshots. */
const CLOCK = { initial_ms: 600_000, increment_ms: 5_000 };

/** Starts a league of a real referee and two players that stop answering after MOVES. */
async function startLiveLeague() {
  const played = Promise.withResolvers<void>();
  const player = (name: string): TestPlayer => ({
    name,
    async start({ manager }): Promise<RunningAgent> {
      const started = await controlledPlayer(new URL(manager).origin, name);
      void (async () => {
        const { your_role } = await started.invitation();
        for (const [index, move] of MOVES.entries())
          if ((index % 2 === 0 ? "white" : "black") === your_role) await started.answer(move);
        await started.asked();
        played.resolve();
      })();
      return { stop: async () => started.close() };
    },
  });
  const league = await startTestLeague({
    leagues: [{ league_id: "live", game: "chess.v1", clock: CLOCK }],
    players: [player("Ann-Kathrin"), player("Бен")],
    timeouts: { match_ms: 86_400_000 },
  });
  await played.promise;
  return {
    manager: new URL(league.manager).origin,
    referee: new URL(league.refereeUrls[0] ?? "").origin,
    close: () => league.stop(),
  };
}

/** Names that are hard to show: of the maximum length, right-to-left, emoji, combining characters, and text that looks like HTML. */
const HARD_NAMES: readonly string[] = [
  "Wolfeschlegelsteinhausenbergerdorff".repeat(3).slice(0, 100),
  "مريم العلي",
  "👩‍🚀 Zoë 🦊🦊🦊",
  "<b>Bobby</b> & O'Tables",
];

const FIRST = ["Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gia", "Hugo", "Ines", "Jon"];

/**
 * Names of people, of which some are hard to show: ten first names with each of the last names. A player in two leagues is the same
 * player, so each league has other last names, and its hard names have a number.
 */
const named = (count: number, lastNames: readonly string[], number: string): readonly string[] =>
  Array.from({ length: count }, (_, index) => {
    const hard = index % 6 === 3 ? HARD_NAMES[Math.floor(index / 6)] : undefined;
    if (hard === undefined) return `${FIRST[index % 10]} ${lastNames[Math.floor(index / 10)]}`;
    return `${hard.slice(0, 99 - number.length)} ${number}`;
  });

/** A league of two players for the match pages of a game. */
const pair = (game: string, players: readonly string[], options: object = {}): ReportedLeague => ({
  league_id: game.split(".")[0] ?? game,
  game,
  options,
  players,
});

/** The leagues of the screenshots: empty, of 4, 20 and 100 players, with each kind of format, and one for each game. */
const LEAGUES: readonly ReportedLeague[] = [
  { league_id: "empty", game: "rps.v1", players: [], missing: 4 },
  { league_id: "filling", game: "chess.v1", players: named(2, ["Nagy"], "I"), missing: 2 },
  { league_id: "four", game: "connect_four.v1", players: HARD_NAMES },
  {
    league_id: "twenty",
    game: "tic_tac_toe.v1",
    format: "swiss",
    format_options: { rounds: 7 },
    players: named(20, ["Kaya", "Lind"], "II"),
    results: 42,
  },
  {
    league_id: "hundred",
    game: "rps.v1",
    results: 1_000,
    players: named(100, ["Abel", "Baum", "Cruz", "Diaz", "Ek", "Fox", "Gray", "Hahn", "Ito", "Juul"], "III"),
  },
  {
    league_id: "knockout",
    game: "tic_tac_toe.v1",
    format: "single-elimination",
    players: named(16, ["Moss", "Orr"], "IV"),
    results: 10,
  },
  {
    league_id: "two-chances",
    game: "connect_four.v1",
    format: "double-elimination",
    players: named(8, ["Park"], "V"),
  },
  pair("chess.v1", ["Deep", "Thought"], { max_plies: 80 }),
  pair("codenames.v1", ["Red spy", "Red team", "Blue spy", "Blue team"]),
  pair("kuhn_poker.v1", ["Call", "Fold"]),
  pair("even_odd.v1", ["Odd", "Even"]),
  pair("tic_tac_toe.v1", ["Nought", "Cross"]),
  pair("rps.v1", ["Rock", "Paper"]),
];

/** The links of the games at the session host, by the name of the game. */
interface GameLinks {
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
    name: "chess-check",
    template: "chess",
    play_as: "white",
    moves: ["f2f3", "e7e5", "a2a3", "d8h4"],
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
