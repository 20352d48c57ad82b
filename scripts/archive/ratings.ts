import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { findGameNamed } from "#shared/games/registry.ts";
import { counted, escapeJson, inOneLine } from "#shared/lib/text.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { type RatingTable, ratingTable } from "#shared/statistics/rating-table.ts";
import { type AgentEvent, agentStream, parseAgentEvent } from "../../league-manager/agents/registered-agent.ts";
import { type LeagueEvent, parseLeagueEvent } from "../../league-manager/league/events.ts";
import { foldLeague } from "../../league-manager/league/evolve.ts";
import { teamSeats } from "../../league-manager/projections/ratings.ts";
import { textTable } from "../run/tables.ts";
import {
  agentLogFile,
  completedMatches,
  ExportedRun,
  type LoggedRun,
  MANIFEST,
  RUN_FILE,
  type UnloggedRun,
} from "./format.ts";
import { readExported, readingExport, readLeagueLog, readLines, readMatch } from "./reports/report-run.ts";
import { findStores, readingDatabase, readingRun, type StoredRun } from "./stored-run.ts";

/**
 * `league ratings`: prints the ratings of the bots of several runs, of folders and of a database. Resolves with the exit code. Rejects with StartError if
 * a folder has no league.
 */
export async function printRatings(
  folders: readonly string[],
  flags: { readonly game?: string; readonly json?: boolean; readonly database?: string | undefined },
): Promise<number> {
  const warn = (line: string): void => void process.stderr.write(`${inOneLine(line)}\n`);
  const matches: RunMatch[] = [];
  for (const folder of folders) matches.push(...(await matchesIn(folder, warn)));
  if (flags.database !== undefined) matches.push(...(await matchesInDatabase(flags.database)));
  const all = await ratingsOverRuns(matches);
  const { game } = flags;
  const shown = game === undefined ? all : all.filter((one) => one.game === (findGameNamed(game)?.id ?? game));
  if (shown.length === 0) throw new StartError(noMatches(game, all), EXIT.failed);
  const text = flags.json ? escapeJson(JSON.stringify({ games: shown }, null, 2)) : shown.map(tableOf).join("\n\n");
  process.stdout.write(`${text}\n`);
  for (const { game, runs_with_equal_seed: count } of shown) {
    if (count === 0) continue;
    const have = `${counted(count, "run")} of ${game} ${count === 1 ? "has" : "have"} the seed of another run`;
    warn(`${have}: deterministic bots repeat their matches, so the intervals are too narrow`);
  }
  return EXIT.ok;
}

function noMatches(game: string | undefined, all: readonly GameRatings[]): string {
  if (game === undefined || all.length === 0) return "no match is completed in these runs";
  return `no match of ${inOneLine(game)} is completed in these runs; there are matches of ${all.map((one) => one.game).join(", ")}`;
}

/** The number of characters of a hash in a table. */
const SHOWN_HASH = 8;

/** Returns the table of one game. Names and hashes are untrusted input. */
function tableOf({ game, runs, matches, model, players, comparisons }: GameRatings): string {
  const header = ["#", "Player", "Version", "Rating", "±", "Matches", "Score", "From", "To", "Stronger than the next"];
  const rows = players.map((row, index) => {
    const next = players[index + 1];
    const comparison = comparisons.find(
      ({ player, other }) => isSame(player, row) && next !== undefined && isSame(other, next),
    );
    return [
      String(index + 1),
      inOneLine(row.name),
      inOneLine(row.bot_hash ?? "").slice(0, SHOWN_HASH),
      ...[Math.round(row.rating), Math.round(row.error), row.matches].map(String),
      row.percent === null ? "" : `${row.percent.toFixed(1)}%`,
      dateOf(row.first_at),
      dateOf(row.last_at),
      comparison ? certainty(comparison) : "",
    ];
  });
  const title = `${inOneLine(game)}: ${counted(matches, "match", "matches")} in ${counted(runs, "run")}, ${model}`;
  return textTable(title, [header, ...rows]);
}

const isSame = (a: { name: string; bot_hash: string | null }, b: { name: string; bot_hash: string | null }): boolean =>
  a.name === b.name && a.bot_hash === b.bot_hash;

const dateOf = (at: string | null): string => inOneLine(at ?? "").slice(0, 10);

const certainty = ({ significant, likelihood }: GameRatings["comparisons"][number]): string =>
  `${significant ? "yes" : "not significant yet"} (${(100 * likelihood).toFixed(1)}%)`;

/** The ratings of one game over several runs, as `league ratings --json` prints them. */
export interface GameRatings {
  readonly game: string;
  /** The number of runs with matches of the game. */
  readonly runs: number;
  /** The number of these runs with the seed of another one. Deterministic bots repeat their matches in them, so that the intervals are too narrow. */
  readonly runs_with_equal_seed: number;
  readonly model: RatingTable["model"];
  /** The number of rated matches. */
  readonly matches: number;
  /** Each version of a bot, the strongest first. */
  readonly players: readonly (BotVersion & {
    readonly rating: number;
    /** Half of the width of the 95% interval. */
    readonly error: number;
    readonly matches: number;
    readonly percent: number | null;
    /** The times of its first and last recorded match; null if they are not known. */
    readonly first_at: string | null;
    readonly last_at: string | null;
  })[];
  readonly comparisons: readonly {
    /** The version with the higher rating. */
    readonly player: BotVersion;
    readonly other: BotVersion;
    readonly difference: number;
    readonly error: number;
    readonly likelihood: number;
    readonly significant: boolean;
  }[];
}

/** Returns the ratings of each game in the order of the ids. A match that is in several folders counts once. */
export async function ratingsOverRuns(matches: readonly RunMatch[]): Promise<readonly GameRatings[]> {
  const byKey = new Map(matches.map((match) => [JSON.stringify([match.runId, match.leagueId, match.matchId]), match]));
  const byGame = Map.groupBy([...byKey.values()], ({ game }) => game);
  const games = [...byGame].sort(([a], [b]) => (a < b ? -1 : 1));
  return Promise.all(games.map(([game, ofGame]) => ratingsOfGame(game, ofGame)));
}

async function ratingsOfGame(game: string, matches: readonly RunMatch[]): Promise<GameRatings> {
  // The ratings of teams depend on the order of the matches.
  const ordered = matches.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
  const versions = new Map<string, BotVersion>();
  const times = new Map<string, { readonly first: string; readonly last: string }>();
  const rated = ordered.map(({ players, points, at }) => {
    const keys = players.map((version) => {
      const key = JSON.stringify([version.name, version.bot_hash]);
      versions.set(key, version);
      if (at !== "") times.set(key, { first: times.get(key)?.first ?? at, last: at });
      return key;
    });
    return { players: keys, points };
  });
  const table = await ratingTable([...versions.keys()], rated, ordered[0]?.teams);
  const runs = new Set(matches.map(({ runId }) => runId)).size;
  const seeds = new Map(matches.map(({ runId, leagueId, seedCommitment }) => [runId, `${leagueId} ${seedCommitment}`]));
  const versionOf = (key: string): BotVersion => versions.get(key) ?? { name: key, bot_hash: null };
  return {
    game,
    runs,
    runs_with_equal_seed: runs - new Set(seeds.values()).size,
    model: table.model,
    matches: table.matches,
    players: table.rows.map(({ player, ...row }) => ({
      ...versionOf(player),
      ...row,
      first_at: times.get(player)?.first ?? null,
      last_at: times.get(player)?.last ?? null,
    })),
    comparisons: table.comparisons.map(({ player, other, isSignificant, ...comparison }) => ({
      player: versionOf(player),
      other: versionOf(other),
      ...comparison,
      significant: isSignificant,
    })),
  };
}

/** A version of a bot: the name of its player, and the hash that the player has sent. */
interface BotVersion {
  readonly name: string;
  readonly bot_hash: string | null;
}

/** A completed match of any run. */
interface RunMatch {
  /** The run, the league and the match. A run and its export have the same keys. */
  readonly runId: string;
  readonly leagueId: string;
  readonly matchId: string;
  readonly game: string;
  /** Identifies the seed of the league. Runs with the same seed have equal ones. */
  readonly seedCommitment: string;
  /** The seats of each team; undefined if each seat is a team. */
  readonly teams: readonly (readonly number[])[] | undefined;
  /** When the result was recorded, ISO 8601; empty if it is not known. */
  readonly at: string;
  /** By seat. */
  readonly players: readonly BotVersion[];
  readonly points: readonly number[];
}

/**
 * Returns the completed matches of a folder: of an export, of a run, of `league serve`, or of all runs of a data folder. Rejects with StartError if there is
 * no league. In a data folder, a run that cannot be read is left out, and `warn` gets the reason.
 */
export async function matchesIn(folder: string, warn: (line: string) => void): Promise<readonly RunMatch[]> {
  if (existsSync(join(folder, MANIFEST))) return readingExport(folder, () => exportedMatches(folder));
  const stores = findStores(resolve(folder));
  if (stores.length === 0)
    throw new StartError(
      `no league in ${folder}: name a data folder, a folder of data/runs, or an export`,
      EXIT.failed,
    );
  const matches: RunMatch[] = [];
  for (const store of stores) {
    try {
      matches.push(...(await storedMatches(store)));
    } catch (thrown) {
      if (stores.length === 1 || !(thrown instanceof StartError)) throw thrown;
      warn(`left out: ${thrown.message}`);
    }
  }
  return matches;
}

const storedMatches = (storeFile: string): Promise<readonly RunMatch[]> => readingRun(storeFile, matchesOf);

/** Returns the completed matches of a PostgreSQL database. Rejects with StartError if it cannot be read. */
export const matchesInDatabase = (url: string): Promise<readonly RunMatch[]> => readingDatabase(url, matchesOf);

async function matchesOf({ store, runId, leagues }: StoredRun): Promise<readonly RunMatch[]> {
  const matches: RunMatch[] = [];
  for (const { events: readEvents, players } of leagues) {
    const events = (await readEvents()).map(({ body }) => parseLeagueEvent(body));
    const agents = new Map<string, readonly AgentEvent[]>();
    for (const { player_id } of players) {
      const eventsOfAgent = await store.readEvents(agentStream(player_id));
      agents.set(
        player_id,
        eventsOfAgent.map(({ body }) => parseAgentEvent(body)),
      );
    }
    matches.push(...loggedMatches({ runId, players, events, eventsOf: (id) => agents.get(id) ?? [] }));
  }
  return matches;
}

function exportedMatches(folder: string): readonly RunMatch[] {
  const run = readExported(folder, RUN_FILE, ExportedRun);
  if (run.format !== "agent-league.export.v3") return unloggedMatches(folder, run);
  return run.leagues.flatMap(({ league_id, players }) =>
    loggedMatches({
      runId: run.run_id,
      players,
      events: readLeagueLog(folder, league_id),
      eventsOf: (agentId) => readLines(folder, agentLogFile(agentId)).map(parseAgentEvent),
    }),
  );
}

interface LeagueLog {
  readonly runId: string;
  readonly players: LoggedRun["leagues"][number]["players"];
  readonly events: readonly LeagueEvent[];
  /** The events of an agent. */
  readonly eventsOf: (agentId: string) => readonly AgentEvent[];
}

/** The matches of a league from its events. */
export function loggedMatches({ runId, players, events, eventsOf }: LeagueLog): readonly RunMatch[] {
  const league = foldLeague(events);
  if (league === null) return [];
  const { leagueId, game, roles, seedCommitment } = league;
  const teams = teamSeats(game, roles);
  const recordedAt = new Map(
    events.flatMap((event) => (event.type === "match_completed" ? [[event.match_id, event.at]] : [])),
  );
  const versionOf = new Map(
    players.map(({ player_id, display_name, salt }) => {
      // Erased players of different runs are different players.
      const name = salt === null ? `${player_id} of run ${runId.slice(0, 8)}` : display_name;
      const registrations = registrationsIn(eventsOf(player_id));
      return [player_id, (at: string): BotVersion => ({ name, bot_hash: hashAt(registrations, at) })];
    }),
  );
  return completedMatches(league).map(({ matchId, players: ids, outcome }) => {
    const at = recordedAt.get(matchId) ?? "";
    const versions = ids.map((id) => versionOf.get(id)?.(at) ?? { name: id, bot_hash: null });
    const facts = { runId, leagueId, matchId, game, seedCommitment, teams, at };
    return { ...facts, players: versions, points: outcome?.points ?? [] };
  });
}

type Registration = Extract<AgentEvent, { type: "registered" | "returned" }>;

const registrationsIn = (events: readonly AgentEvent[]): readonly Registration[] =>
  events.filter((event) => event.type === "registered" || event.type === "returned");

/** Returns the hash of the bot that a player had when a match was recorded. A player can return with another bot. */
const hashAt = (registrations: readonly Registration[], at: string): string | null =>
  (registrations.findLast((event) => event.at <= at) ?? registrations[0])?.bot_hash ?? null;

/** The matches of an export of an earlier version, which has no events. */
const unloggedMatches = (folder: string, run: UnloggedRun): readonly RunMatch[] =>
  run.leagues.flatMap(({ league_id: leagueId, game, players, matches }) => {
    const nameOf = new Map(players.map(({ player_id, display_name }) => [player_id, display_name]));
    return matches.map((matchId) => {
      const { roles, match_points, termination } = readMatch(folder, leagueId, matchId);
      const ids = Object.values(roles);
      return {
        runId: run.seed_commitment,
        leagueId,
        matchId,
        game,
        seedCommitment: run.seed_commitment,
        at: "",
        teams: teamSeats(game, Object.keys(roles)),
        players: ids.map((id) => ({ name: nameOf.get(id) ?? id, bot_hash: null })),
        points: termination === "aborted" ? [] : ids.map((id) => match_points[id] ?? 0),
      };
    });
  });
