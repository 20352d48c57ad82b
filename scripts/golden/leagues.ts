import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FORMATS } from "#shared/formats/registry.ts";
import { type GameId, games } from "#shared/games/registry.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { rpcToolCall } from "#shared/rpc/testing/json-rpc.ts";
import { Config } from "#shared/runtime/config/config.ts";
import { exportOf } from "../archive/export-store.ts";
import { leagueLogFile, RUN_FILE, writeExport } from "../archive/format.ts";
import { verifyExport } from "../archive/verify/verify.ts";
import { withoutVersion } from "./record-text.ts";
import { type AskManager, playInWorld, type WorldPlayer, warmUp } from "./world.ts";

/** The texts of the files of an export, by file name. */
type Files = ReadonlyMap<string, string>;

/**
 * Plays the leagues of a game with the first seeds. Resolves with lines for each seed: one for each league, with hashes of its parts and the points of its
 * players.
 */
export async function leaguesOf(game: GameId, seeds: number): Promise<string> {
  const lines: string[] = [];
  const plans = plansOf(game);
  for (const { seed, config, players } of plans.slice(DIFFERENT_PLANS - 2, DIFFERENT_PLANS))
    await warmUp({ seed: `${game}/${seed}`, config, players, startWhen: "count" });
  for (const plan of plans.slice(0, seeds)) lines.push(...(await linesOf(game, plan)));
  return `${lines.join("\n")}\n`;
}

async function linesOf(game: GameId, { seed, config, players }: RunPlan): Promise<readonly string[]> {
  const formats = config.leagues.map(({ league_id }) => league_id);
  const shown = new Map<string, string>();
  const db = await playInWorld({
    seed: `${game}/${seed}`,
    config,
    players,
    startWhen: "count",
    async onCompleted(askManager) {
      for (const format of formats) shown.set(format, await shownBy(askManager, format));
    },
  });
  const folder = mkdtempSync(join(tmpdir(), "golden-"));
  try {
    const store = join(folder, "league-manager.sqlite");
    db.prepare("VACUUM INTO ?").run(store);
    const { files } = await exportOf(store);
    const name = `seed ${String(seed).padStart(2, "0")}`;
    return [
      ...formats.map((format) =>
        [
          `${name} ${format}: ${matchesOf(files, format)} ${shown.get(format)} ${exportOfLeague(files, format)}`,
          pointsIn(files, format),
        ].join(" | "),
      ),
      `${name} all leagues: ${exportOfRun(files)} ${verifiedIn(join(folder, "export"), files)}`,
    ];
  } finally {
    db.close();
    rmSync(folder, { recursive: true });
  }
}

/** The tools whose results are recorded. They show what the manager shows at the end of a league. */
const TOOLS = { schedule: "get_schedule", standings: "get_standings", ratings: "get_ratings" } as const;

async function shownBy(askManager: AskManager, league_id: string): Promise<string> {
  const parts: string[] = [];
  for (const [part, tool] of Object.entries(TOOLS)) {
    const answer = await askManager(JSON.stringify(rpcToolCall(tool, { league_id })));
    parts.push(hashOf(part, answer ?? ""));
  }
  return parts.join(" ");
}

const hashOf = (part: string, content: unknown): string =>
  `${part} ${sha256Hex(withoutVersion(JSON.stringify(content))).slice(0, 8)}`;

interface ExportedMatch {
  readonly log: readonly string[];
  readonly log_head: string;
}

interface Entry {
  readonly type: string;
  readonly role?: string;
  readonly action?: unknown;
}

const isOfLeague = (format: string, file: string): boolean =>
  file.startsWith(join("matches", format, "/")) || file === leagueLogFile(format);

/** The results of the matches of a league and their actions. */
function matchesOf(files: Files, format: string): string {
  const matches = [...files].filter(([name]) => name.startsWith("matches") && isOfLeague(format, name));
  const contents = matches.map(([, text]) => {
    const { log, log_head: _, ...result } = JSON.parse(text) as ExportedMatch;
    const entries = log.map((entry) => JSON.parse(entry) as Entry);
    return [result, entries.map(({ type, role, action }) => [type, role, action])];
  });
  return hashOf("matches", contents);
}

/** The files of a league in an export, and those of the run. */
const exportOfLeague = (files: Files, format: string): string =>
  hashOf("export", withoutDatesAndTokens([...files].filter(([name]) => isOfLeague(format, name))));
const exportOfRun = (files: Files): string =>
  hashOf("export", withoutDatesAndTokens([...files].filter(([name]) => !/^(matches|leagues)\b/.test(name))));

/**
 * The fields that contain a date, a token or a random id, and the hashes that depend on one. Seeds and their commitments are not among them, because
 * they depend only on the seed of the run. Only the texts of these fields are left out, so a field that is added, renamed or missing changes the record.
 */
const UNSTABLE = new Set(["at", "run_id", "salt", "name_commitment", "session_id", "log_head"]);

function withoutDatesAndTokens(files: readonly (readonly [name: string, text: string])[]): unknown {
  const parsed = (text: string): unknown =>
    JSON.parse(text, (key, value) => (UNSTABLE.has(key) && typeof value === "string" ? "" : value));
  return files.map(([name, text]) => {
    if (name.endsWith(".jsonl")) return [name, text.trimEnd().split("\n").map(parsed)];
    const value = parsed(text) as Partial<ExportedMatch>;
    return [name, { ...value, log: value.log?.map(parsed) }];
  });
}

interface ExportedRun {
  readonly leagues: readonly {
    readonly league_id: string;
    readonly standings: readonly { readonly display_name: string; readonly points: number }[];
  }[];
}

function pointsIn(files: Files, format: string): string {
  const { leagues } = JSON.parse(files.get(RUN_FILE) ?? "") as ExportedRun;
  const { standings } = leagues.find(({ league_id }) => league_id === format) ?? { standings: [] };
  return standings.map((row) => `${row.display_name} ${row.points}`).join(", ");
}

/** Writes an export and verifies it. The digest is left out, because it depends on dates and tokens. */
function verifiedIn(folder: string, files: Files): string {
  writeExport(folder, files);
  const { verdict, digest: _, ...verified } = verifyExport(folder);
  const plain = { ...verified, standings: [...verified.standings], unplayed: [...verified.unplayed] };
  return `${verdict}, ${hashOf("verify", plain)}`;
}

/** The leagues of a game with one seed: one league of each format, whose id is the format. */
interface RunPlan {
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
const plansOf = (game: GameId): readonly RunPlan[] =>
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
    league_id: format,
    game,
    options: OPTIONS[game][variant],
    format,
    format_options,
    min_players: names.length,
    max_players: names.length,
    // Every fourth league has clocks.
    ...(seed % 4 === 0 && { clock: { initial_ms: 60_000, increment_ms: 1_000 } }),
    ...(hasTeams && { teams: Array.from({ length: count }, (_, n) => names.slice(2 * n, 2 * n + 2)) }),
  };
  return { format, names, league };
}
