import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { matchRef } from "#shared/lib/ids.ts";
import { parseLeagueEvent } from "../../league-manager/league/events.ts";
import type { Termination } from "../../league-manager/league/league.ts";
import { leagueLogFile } from "../archive/files.ts";
import { callTool } from "../testing/processes.ts";
import { type Agents, managerName } from "./agents.ts";
import { leagueDocument, runLeague } from "./league-command.ts";
import type { PlannedLeague } from "./leagues.ts";

/** The document of `league verify --json`. */
interface Verified {
  readonly faults: readonly { readonly file: string; readonly message: string }[];
  readonly matches: number;
  readonly discarded: number;
  readonly standings: Readonly<Record<string, readonly object[]>>;
}

/** What the check of a run has found. */
export interface Checked {
  readonly faults: readonly string[];
  /** The number of matches that `verify` has replayed. */
  readonly verified: number;
  /** The number of assignments that were discarded: the match was taken from its referee and got a new epoch. */
  readonly discarded: number;
}

/**
 * Checks a run that has ended and whose managers still run. Every planned match has exactly one result in the log, `league verify` finds no fault in
 * the export, and every manager shows the standings that follow from it.
 */
export async function checkRun(agents: Agents, matches: number): Promise<Checked> {
  const folder = join(agents.folder, "export");
  await exportRun(agents, folder);
  // A separate process: the connections of the managers to the database pass through this one.
  const verified = await leagueDocument<Verified>(["verify", folder]);
  const results = resultsIn(folder, agents.leagues);
  return {
    faults: [
      ...verified.faults.map(({ file, message }) => `${file}: ${message}`),
      ...faultsOfResults(results, matches),
      ...(await faultsOfStandings(agents, verified)),
    ],
    verified: verified.matches,
    discarded: verified.discarded,
  };
}

/** Exports the run of a database, or of the folder of the embedded manager, with the command line. */
async function exportRun({ folder, managers }: Agents, out: string): Promise<void> {
  const database = managers[0]?.database;
  const source = database ? ["--database", database] : [join(folder, "manager-1")];
  await runLeague(["export", ...source, "--out", out]);
}

interface Result {
  readonly match: string;
  readonly termination: Termination;
}

/** Returns the results in the logs of the leagues, in their order. An abort ends a match too. */
const resultsIn = (folder: string, leagues: readonly PlannedLeague[]): readonly Result[] =>
  leagues.flatMap(({ league_id }) => {
    const file = join(folder, leagueLogFile(league_id));
    const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
    return lines.flatMap((line): Result[] => {
      const event = line === "" ? null : parseLeagueEvent(line);
      if (event?.type !== "match_completed" && event?.type !== "match_aborted") return [];
      const termination = event.type === "match_completed" ? event.termination : "aborted";
      return [{ match: matchRef(league_id, event.match_id), termination }];
    });
  });

/**
 * Returns a text for each match with more than one result or without a normal end, and one if the number of matches is wrong. No fault of a cluster
 * concerns a player, so a forfeit or an abort would charge the players with it.
 */
export function faultsOfResults(results: readonly Result[], matches: number): readonly string[] {
  const counts = new Map<string, number>();
  for (const { match } of results) counts.set(match, (counts.get(match) ?? 0) + 1);
  return [
    ...(counts.size === matches ? [] : [`${counts.size} matches have a result, not ${matches}`]),
    ...[...counts].flatMap(([match, count]) => (count > 1 ? [`${match} has ${count} results`] : [])),
    ...results.flatMap(({ match, termination }) =>
      termination === "normal" ? [] : [`${match} has not ended normally: ${termination}`],
    ),
  ];
}

/** Returns a text for each manager and league whose standings differ from those that follow from the export. */
async function faultsOfStandings(agents: Agents, { standings }: Verified): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const [leagueId, rows] of Object.entries(standings)) {
    for (const [index, { port }] of agents.managers.entries()) {
      const { value } = await callTool(port, "get_standings", { league_id: leagueId });
      const shown = (value.standings as readonly Record<string, unknown>[]).map(({ league_id, state, ...row }) => row);
      if (isDeepStrictEqual(shown, rows)) continue;
      faults.push(`${managerName(index)} shows other standings of ${leagueId} than follow from the export`);
    }
  }
  return faults;
}
