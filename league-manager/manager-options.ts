import { z } from "zod";
import { findFormat } from "#shared/formats/registry.ts";
import { findGame } from "#shared/games/registry.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { playerId } from "#shared/lib/ids.ts";
import { invariant } from "#shared/lib/result.ts";
import { LONGEST_MOVE_MS } from "#shared/protocol/message-fields.ts";
import type { AgentProcess } from "#shared/runtime/agent.ts";
import type { Config } from "#shared/runtime/config/config.ts";
import { withLateEntry } from "#shared/runtime/config/leagues.ts";
import { readOrCreateSecret, type Secrets, tokenFileOf } from "#shared/runtime/secret-file.ts";
import { type AdmissionPolicy, type Place, placesOf } from "./agents/places.ts";
import type { MoveLimits } from "./effects/effects-context.ts";
import { type League, type LeagueSettings, leagueSeed } from "./league/league.ts";
import type { MatchQueue } from "./match-queue.ts";
import type { LiveEvent } from "./projections/live-events.ts";
import type { RunDatabase } from "./shared-run/run-database.ts";
import type { ManagerStore, RunIdentity } from "./store/manager-store.ts";

/** The database that the managers of a run share, as one of them uses it. */
interface SharedDatabase {
  /** `close` closes its connections. */
  readonly run: ManagerStore & RunDatabase;
  /** The queue whose jobs the run changes in its transactions. */
  readonly queue: MatchQueue<never>;
}

export type OpenDatabase = (self: Pick<AgentProcess, "clock" | "ids" | "log" | "warn">) => Promise<SharedDatabase>;

/** The options of the league manager's start. */
export const ManagerOptions = z.object({
  /** A parsed config, with its defaults. */
  config: z.custom<Config>((config) => typeof config === "object"),
  /** The address to listen on; absent for the config's. */
  host: z.string().optional(),
  /** The port to listen on; 0 for a free port; absent for the config's. */
  port: z.int().optional(),
  dataFolder: z.string(),
  /** The seed of the run; null for a random one. A run that is continued keeps its first seed. */
  seed: z.string().nullable().default(null),
  /** Opens the database of a run with several managers; absent for a run in a file of the data folder. Rejects with StartError. */
  database: z.custom<OpenDatabase>((open) => typeof open === "function").optional(),
  /** The origin at which the other managers of the run reach this one; absent for the address on which it listens. */
  url: z.string().optional(),
  startWhen: z.enum(["roster", "count"] satisfies StartWhen[]).default("count"),
  onEvent: z.custom<(event: LiveEvent) => void>((listener) => typeof listener === "function").default(() => () => {}),
});
export type ManagerOptions = z.output<typeof ManagerOptions>;

/** `roster`: only the agents of the config may enter the leagues. `count`: every player that registers may enter. */
type StartWhen = AdmissionPolicy["startWhen"];

/** The places that a config reserves. The data folder of a run has a token for each agent that the run starts. */
export const reservedPlaces = (
  config: Config,
  startWhen: StartWhen,
  dataFolder: string,
  secrets: Secrets,
): readonly Place[] =>
  placesOf(
    config,
    startWhen === "roster"
      ? (kind, name) => sha256Hex(readOrCreateSecret(secrets, tokenFileOf(dataFolder, kind, name)))
      : null,
  );

/** The rules of admission that follow from a config. */
export const admissionPolicy = (
  config: Config,
  startWhen: StartWhen,
  places: readonly Place[],
  operatorToken: string,
): AdmissionPolicy => ({
  places,
  startWhen,
  joinCode: config.manager.join_code ?? null,
  // A listed endpoint does not allow other ports or paths of its host.
  allowedContacts: {
    hosts: config.allowed_hosts,
    endpoints: config.players.flatMap((player) => ("endpoint" in player ? [player.endpoint] : [])),
  },
  operatorTokenHash: sha256Hex(operatorToken),
  maxPlayers: numbersOf(config, "max_players"),
});

/** A numeric setting by league id, for the leagues whose config has it. */
export const numbersOf = (config: Config, field: "min_players" | "max_players"): ReadonlyMap<string, number> =>
  new Map(
    config.leagues.flatMap((league) => {
      const value = league[field];
      return value === undefined ? [] : [[league.league_id, value] as const];
    }),
  );

/**
 * The time limits for a move that a config sets. Players are identified by name. In a league with clocks only its own `move_ms` and those of players
 * apply, because the default would end most moves before the clock.
 */
export function moveLimits({
  leagues,
  players,
  timeouts,
}: Pick<Config, "leagues" | "players" | "timeouts">): MoveLimits {
  const byLeague = new Map(
    leagues.map(({ league_id, move_ms, clock }) => [league_id, move_ms ?? (clock && LONGEST_MOVE_MS)]),
  );
  const byName = new Map(players.map(({ name, move_ms }) => [name, move_ms]));
  return {
    ofLeague: (leagueId) => byLeague.get(leagueId) ?? timeouts.move_ms,
    ofPlayer: (name) => byName.get(name),
  };
}

/** The id of the place of a listed player. */
const idOfListed = (players: Config["players"], name: string): string =>
  playerId(players.findIndex((player) => player.name === name) + 1);

/** The settings of each league of the config that follow from the config and the run. */
export const leagueSettings = (config: Config, run: RunIdentity): readonly LeagueSettings[] =>
  config.leagues.map((league) => settingsFrom(league, config, run, { leagueId: league.league_id, like: null }));

/** The settings at the start of a manager: those of the leagues of the config, and of the leagues of its store that were opened like them. */
export const settingsAtStart = (
  config: Config,
  run: RunIdentity,
  stored: Iterable<League>,
  nowMs: number,
): readonly LeagueSettings[] => [
  ...leagueSettings(config, run),
  ...[...stored].flatMap(({ like, leagueId, startsAt }) => {
    if (like === null || config.leagues.some(({ league_id }) => league_id === leagueId)) return [];
    return settingsLike(config, run, { like, leagueId, startsAt, nowMs }) ?? [];
  }),
];

/**
 * The settings of a league that is opened like a league of the config; null if the config has no league `like`. A `starts_at` that is over is not
 * copied: `startsAt` is then kept, the time of the league itself.
 */
export function settingsLike(
  config: Config,
  run: RunIdentity,
  { like, leagueId, startsAt, nowMs }: Pick<League, "leagueId" | "startsAt"> & { like: string; nowMs: number },
): LeagueSettings | null {
  const league = config.leagues.find(({ league_id }) => league_id === like);
  if (!league) return null;
  const settings = settingsFrom(league, config, run, { leagueId, like });
  const isOver = settings.startsAt !== null && Date.parse(settings.startsAt) <= nowMs;
  return isOver ? { ...settings, startsAt } : settings;
}

/** The settings of a league that follow from an entry of the config and the run. */
function settingsFrom(
  league: Config["leagues"][number],
  { players }: Pick<Config, "players">,
  { runId, seed }: RunIdentity,
  ids: Pick<LeagueSettings, "leagueId" | "like">,
): LeagueSettings {
  const { game: id, options, clock = null, format, tie_breaks, teams } = league;
  const { openings, late_entry, starts_at, round_ms } = league;
  const game = findGame(id);
  invariant(game, `unknown game ${id}`);
  return {
    ...ids,
    runId,
    game: game.id,
    roles: game.roles,
    options,
    clock,
    format,
    formatOptions: formatOptionsOf(league, players),
    tieBreaks: tie_breaks ?? null,
    teams: teams ? teams.map((members) => members.map((name) => idOfListed(players, name))) : null,
    openings: openings ?? null,
    lateEntry: late_entry,
    startsAt: starts_at ?? null,
    roundMs: round_ms ?? null,
    seedCommitment: sha256Hex(leagueSeed(seed, ids.leagueId)),
  };
}

/** The options of the format, with ids of players. */
function formatOptionsOf(
  league: Config["leagues"][number],
  players: Config["players"],
): LeagueSettings["formatOptions"] {
  const format = findFormat(league.format);
  const option = format?.playerOption ?? "";
  const name = league.format_options[option];
  const isListed = players.some((player) => player.name === name);
  return {
    ...format?.optionsOfNew,
    ...withLateEntry(league),
    ...(isListed && { [option]: idOfListed(players, String(name)) }),
  };
}
