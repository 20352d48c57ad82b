import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { type AgentEvent, agentStream, parseAgentEvent } from "../../../league-manager/agents/registered-agent.ts";
import { type LeagueEvent, parseLeagueEvent } from "../../../league-manager/league/events.ts";
import { foldLeague } from "../../../league-manager/league/evolve.ts";
import { teamSeats } from "../../../league-manager/projections/ratings.ts";
import { findStores } from "../export/find-store.ts";
import { readingDatabase, readingRun, type StoredRun } from "../export/stored-run.ts";
import { agentLogFile, MANIFEST, RUN_FILE } from "../files.ts";
import { completedMatches, ExportedRun, type LoggedRun, type UnloggedRun } from "../format.ts";
import { readExported, readingExport, readLeagueLog, readLines, readMatch } from "../reports/report-run.ts";

/** A version of a bot: the name of its player, and the hash that the player has sent. */
export interface BotVersion {
  readonly name: string;
  readonly bot_hash: string | null;
}

/** A completed match of any run. */
export interface RunMatch {
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
        ...{ runId: run.seed_commitment, leagueId, matchId, game, seedCommitment: run.seed_commitment, at: "" },
        teams: teamSeats(game, Object.keys(roles)),
        players: ids.map((id) => ({ name: nameOf.get(id) ?? id, bot_hash: null })),
        points: termination === "aborted" ? [] : ids.map((id) => match_points[id] ?? 0),
      };
    });
  });
