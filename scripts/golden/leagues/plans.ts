import { FORMATS } from "#shared/formats/registry.ts";
import { type GameId, games } from "#shared/games/registry.ts";
import { Config } from "#shared/runtime/config/config.ts";
import type { WorldPlayer } from "./world.ts";

/** The leagues of a game with one seed: one league of each format, whose id is the format. */
export interface RunPlan {
  readonly seed: number;
  readonly config: Config;
  readonly players: readonly WorldPlayer[];
}

/** The number of seeds of each game and format. */
export const SEEDS = 20;

/** The number of the first plans of a game that differ in more than the seed. The last two have both sizes of leagues, and clocks. */
export const DIFFERENT_PLANS = 4;

const NAMES = ["Ada", "Ben", "Cleo", "Dan", "Eve", "Finn", "Gil", "Hana", "Ida", "Jan"];

/** The bots of each game, in turn. Those that depend on time or compute long are left out. */
const BOTS: Readonly<Record<GameId, readonly string[]>> = {
  "even_odd.v1": ["random", "pattern", "counter", "cycle"],
  "rps.v1": ["random", "markov", "iocaine", "counter"],
  "chess.v1": ["random", "greedy", "counter", "cycle"],
  "tic_tac_toe.v1": ["random", "cycle", "minimax", "greedy"],
  "connect_four.v1": ["random", "cycle", "greedy", "counter"],
  "kuhn_poker.v1": ["random", "equilibrium", "cycle", "counter"],
  "codenames.v1": ["random", "random", "wordlists", "wordlists"],
};

/** The options of each game: short matches. The second value is that of every second seed. */
const OPTIONS: Readonly<Record<GameId, readonly [object, object]>> = {
  "even_odd.v1": [{}, { variant: "draw" }],
  "rps.v1": [{}, { best_of: 3 }],
  "chess.v1": [{ max_plies: 12 }, { max_plies: 10, draw_offers: true }],
  "tic_tac_toe.v1": [{}, {}],
  "connect_four.v1": [{}, {}],
  "kuhn_poker.v1": [{ hands: 2 }, { hands: 3 }],
  "codenames.v1": [{}, {}],
};

/** The options of each format and the number of players, or of teams: short leagues. The second value is that of every second seed. */
const LEAGUES: Readonly<Record<string, readonly [Size, Size]>> = {
  "round-robin": [{ players: 4 }, { players: 3, options: { cycles: 2 } }],
  swiss: [{ players: 4 }, { players: 5, options: { rounds: 2 } }],
  "single-elimination": [
    { players: 4, options: { legs: 1, third_place: true } },
    { players: 3, options: { legs: 2, extra_legs: 1, seeding: "random" } },
  ],
  "double-elimination": [
    { players: 4, options: { legs: 1, extra_legs: 1 } },
    { players: 3, options: { legs: 1, extra_legs: 0, seeding: "random", bracket_reset: false } },
  ],
  match: [
    { players: 2, options: { games: 2 } },
    { players: 3, options: { games: 2 } },
  ],
  gauntlet: [{ players: 3 }, { players: 3, options: { games: 1, champion: "Ben" } }],
  ladder: [
    { players: 4, options: { matches: 6 } },
    { players: 3, options: { matches: 5 } },
  ],
  sprt: [
    { players: 2, options: { elo0: 0, elo1: 400, max_games: 4 } },
    { players: 2, options: { elo1: 500, model: "normalized", max_games: 4 } },
  ],
};

interface Size {
  readonly players: number;
  readonly options?: object;
}

/** The formats whose players of Codenames are single players. In the others they are fixed pairs. */
const WITHOUT_TEAMS = ["round-robin", "match"];
/** The smallest number of players that can play Codenames without teams. */
const TABLE = 4;

/** The runs of a game, one for each seed. Throws if a format is not in the table, or a league is not valid. */
export const plansOf = (game: GameId): readonly RunPlan[] =>
  Array.from({ length: SEEDS }, (_, index) => planOf(game, index + 1));

function planOf(game: GameId, seed: number): RunPlan {
  const leagues = FORMATS.map(({ id }) => leagueOf(game, id, seed));
  const bots = BOTS[game];
  const players = NAMES.map((name, index) => ({
    name,
    bot: bots[index % bots.length] ?? "random",
    leagueIds: leagues.filter(({ names }) => names.includes(name)).map(({ format }) => format),
  })).filter(({ leagueIds }) => leagueIds.length > 0);
  const config = Config.parse({
    players: players.map(({ name, bot }) => ({ name, bot })),
    leagues: leagues.map(({ league }) => league),
  });
  return { seed, players, config };
}

function leagueOf(game: GameId, format: string, seed: number) {
  const sizes = LEAGUES[format];
  if (!sizes) throw new Error(`the record has no leagues of the format ${format}: add one to ${import.meta.filename}`);
  const variant = (seed + 1) % 2;
  const { players: count, options: format_options = {} } = sizes[variant] as Size;
  const seats = games[game].roles.length;
  const hasTeams = seats > 2 && !WITHOUT_TEAMS.includes(format);
  const names = NAMES.slice(0, hasTeams ? 2 * count : seats > 2 ? TABLE + variant : count);
  const league = {
    ...{ league_id: format, game, options: OPTIONS[game][variant], format, format_options },
    ...{ min_players: names.length, max_players: names.length },
    // Every fourth league has clocks.
    ...(seed % 4 === 0 && { clock: { initial_ms: 60_000, increment_ms: 1_000 } }),
    ...(hasTeams && { teams: Array.from({ length: count }, (_, n) => names.slice(2 * n, 2 * n + 2)) }),
  };
  return { format, names, league };
}
