/** The games' names, which a list of games does not carry; the games themselves are too large for a page. */
export const GAME_NAMES: Readonly<Record<string, string>> = {
  "chess.v1": "Chess",
  "tic_tac_toe.v1": "Tic-tac-toe",
  "connect_four.v1": "Connect Four",
  "kuhn_poker.v1": "Kuhn poker",
  "rps.v1": "Rock, paper, scissors",
  "even_odd.v1": "Even or odd",
  "codenames.v1": "Codenames",
};

/** The roles that win together, by game; as `GAME_NAMES`, this repeats what the games say. */
export const GAME_TEAMS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  "codenames.v1": [
    ["red_spymaster", "red_team"],
    ["blue_spymaster", "blue_team"],
  ],
};
