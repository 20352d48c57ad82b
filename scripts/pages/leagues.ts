import type { ReportedLeague } from "../testing/reported-leagues.ts";

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
  ...{ league_id: game.split(".")[0] ?? game, game, options, players },
});

/** The leagues of the screenshots: empty, of 4, 20 and 100 players, with each kind of format, and one for each game. */
export const LEAGUES: readonly ReportedLeague[] = [
  { league_id: "empty", game: "rps.v1", players: [], missing: 4 },
  { league_id: "filling", game: "chess.v1", players: named(2, ["Nagy"], "I"), missing: 2 },
  { league_id: "four", game: "connect_four.v1", players: HARD_NAMES },
  {
    ...{ league_id: "twenty", game: "tic_tac_toe.v1", format: "swiss", format_options: { rounds: 7 } },
    ...{ players: named(20, ["Kaya", "Lind"], "II"), results: 42 },
  },
  {
    ...{ league_id: "hundred", game: "rps.v1", results: 1_000 },
    players: named(100, ["Abel", "Baum", "Cruz", "Diaz", "Ek", "Fox", "Gray", "Hahn", "Ito", "Juul"], "III"),
  },
  {
    ...{ league_id: "knockout", game: "tic_tac_toe.v1", format: "single-elimination" },
    ...{ players: named(16, ["Moss", "Orr"], "IV"), results: 10 },
  },
  {
    ...{ league_id: "two-chances", game: "connect_four.v1", format: "double-elimination" },
    players: named(8, ["Park"], "V"),
  },
  pair("chess.v1", ["Deep", "Thought"], { max_plies: 80 }),
  pair("codenames.v1", ["Red spy", "Red team", "Blue spy", "Blue team"]),
  pair("kuhn_poker.v1", ["Call", "Fold"]),
  pair("even_odd.v1", ["Odd", "Even"]),
  pair("tic_tac_toe.v1", ["Nought", "Cross"]),
  pair("rps.v1", ["Rock", "Paper"]),
];
