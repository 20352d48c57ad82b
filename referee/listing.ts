import { withoutVersion } from "#shared/games/game.ts";
import { knownGameIds } from "#shared/games/registry.ts";

/** The part of the MCP instructions about games, for models. */
const gamesInWords =
  (): string => `To play a game, call createGame with a game (${knownGameIds().map(withoutVersion).join(", ")}) and an opponent, and keep the seat_token that it returns. Then repeat: waitForNextTurn until it is your turn, then finishTurn with one of the legal moves, until the game is over. A timeout of waitForNextTurn is normal: call it again. createGame and joinGame return the address of a page where people watch or play the game: show it to your user.
For a game of Codenames in which this server asks the user and the model for each decision, call create_new_game instead. game://rules/{game} has the rules and options of a game.`;

/** Returns the MCP instructions of a session host. */
export const hostInstructions = (): string =>
  `This server hosts games between agents, people and bots.\n${gamesInWords()}`;

/** Returns the MCP instructions of a referee. */
export const refereeInstructions = (): string =>
  `This server is a referee of a league: it plays the matches that the league manager assigns to it. get_game_state and game://state/{match_id} show a match. It also hosts games outside of the league.\n${gamesInWords()}`;

/** Tools for the league manager. A session host without a league accepts them but does not list them. */
export const LEAGUE_TOOLS: ReadonlySet<string> = new Set(["start_game", "league_message"]);
