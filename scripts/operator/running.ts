/** The commands that show and change the running leagues of a manager. */

import { isDeepStrictEqual } from "node:util";
import { escapeJson } from "#shared/lib/text.ts";
import { openEventStream } from "#shared/rpc/http/event-stream.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { LEAGUE_COMMAND } from "#shared/runtime/program.ts";
import {
  Added,
  Annulled,
  Ended,
  Extended,
  LeagueStatus,
  Paused,
  Resumed,
} from "../../league-manager/api/tool-schemas.ts";
import { endpointOf, type OperatorFlags, playerIdOf, print, request, scheduleMatch } from "../commands/operator.ts";
import { eventLine, statusLines } from "./league-lines.ts";

/** `league status`. */
export async function showStatus(
  league: string | undefined,
  flags: OperatorFlags & { readonly json?: boolean },
): Promise<number> {
  const payload = league === undefined ? {} : { league_id: league };
  const status = await request("LEAGUE_STATUS", payload, LeagueStatus, flags);
  process.stdout.write(
    flags.json ? `${escapeJson(JSON.stringify(status, null, 2))}\n` : `${statusLines(status).join("\n")}\n`,
  );
  return EXIT.ok;
}

/** `league pause`. */
export async function pauseLeagues(leagues: readonly string[], flags: OperatorFlags): Promise<number> {
  for (const league_id of leagues) {
    await request("PAUSE_LEAGUE", { league_id }, Paused, flags);
    print(`${league_id} is paused; continue it with: ${LEAGUE_COMMAND} resume ${league_id}${addressOf(flags)}`);
  }
  return EXIT.ok;
}

const addressOf = ({ data, manager }: OperatorFlags): string =>
  ` --data ${data}${manager === undefined ? "" : ` --manager ${manager}`}`;

/** `league resume`. */
export async function resumeLeagues(leagues: readonly string[], flags: OperatorFlags): Promise<number> {
  for (const league_id of leagues) {
    const before = await request("LEAGUE_STATUS", { league_id }, LeagueStatus, flags);
    await request("RESUME_LEAGUE", { league_id }, Resumed, flags);
    print(before.leagues[0]?.status === "paused" ? `${league_id} continues` : `${league_id} is running and not paused`);
  }
  return EXIT.ok;
}

/** `league extend`: `raised` are texts such as `rounds=7`. */
export async function extendLeague(
  league_id: string,
  raised: readonly string[],
  flags: OperatorFlags,
): Promise<number> {
  const format_options = Object.fromEntries(raised.map(numberOption));
  const before = await optionsOf(league_id, flags);
  await request("EXTEND_LEAGUE", { league_id, format_options }, Extended, flags);
  const isExtended = !isDeepStrictEqual(await optionsOf(league_id, flags), before);
  print(`${league_id} ${isExtended ? "is extended:" : "is not extended, because it already has"} ${raised.join(", ")}`);
  return EXIT.ok;
}

/** Returns the options of the format of a league, without their defaults. */
const optionsOf = async (league_id: string, flags: OperatorFlags): Promise<unknown> =>
  (await request("LEAGUE_STATUS", { league_id }, LeagueStatus, flags)).leagues[0]?.format_options;

function numberOption(text: string): readonly [name: string, value: number] {
  const [, name, digits] = /^([\w-]+)=(\d+)$/.exec(text) ?? [];
  if (name === undefined) throw new StartError(`${text}: write NAME=NUMBER, such as rounds=7`, EXIT.usage);
  return [name, Number(digits)];
}

/** `league end`: ends a league with the standings so far; without an id the only running league. */
export async function endLeague(league: string | undefined, flags: OperatorFlags): Promise<number> {
  const league_id = league ?? (await onlyRunningLeague(flags));
  await request("END_LEAGUE", { league_id }, Ended, flags);
  print(`${league_id} is ended; its open matches are cancelled`);
  return EXIT.ok;
}

/** Returns the id of the only running league. Throws StartError if there is none or more than one. */
async function onlyRunningLeague(flags: OperatorFlags): Promise<string> {
  const { leagues } = await request("LEAGUE_STATUS", {}, LeagueStatus, flags);
  const ids = leagues.flatMap(({ league_id, status }) => (/^(running|paused)$/.test(status) ? [league_id] : []));
  const [id] = ids;
  if (id === undefined) throw new StartError("no league is running");
  if (ids.length > 1)
    throw new StartError(`${ids.length} leagues are running; name one of ${ids.join(", ")}`, EXIT.usage);
  return id;
}

/** `league add`: adds players to a league, or a match of these players to a round. */
export async function addTo(
  players: readonly string[],
  flags: OperatorFlags & { readonly league: string; readonly round?: number },
): Promise<number> {
  const { league: league_id, round } = flags;
  if (round !== undefined) return scheduleMatch(players, { ...flags, round });
  for (const player of players) {
    const player_id = await playerIdOf(player, flags);
    await request("ADD_PLAYER", { league_id, player_id }, Added, flags);
    print(`${player_id} is in ${league_id}`);
  }
  return EXIT.ok;
}

/** `league annul`. */
export async function annulMatch(
  match_id: string,
  flags: OperatorFlags & { readonly league: string; readonly reason: string },
): Promise<number> {
  const { league: league_id, reason } = flags;
  if (reason.trim() === "") throw new StartError("--reason must not be empty", EXIT.usage);
  await request("ANNUL_MATCH", { league_id, match_id, reason }, Annulled, flags);
  print(`${league_id} ${match_id} is annulled`);
  return EXIT.ok;
}

/** `league logs`: prints the events of a league. With `follow` it ends when the league is over. */
export async function printLogs(league: string, flags: OperatorFlags & { readonly follow?: boolean }): Promise<number> {
  const url = new URL(`/leagues/${encodeURIComponent(league)}/events?from=0`, endpointOf(flags));
  const { leagues } = await request("LEAGUE_STATUS", { league_id: league }, LeagueStatus, flags);
  const until = flags.follow ? Number.POSITIVE_INFINITY : (leagues[0]?.version ?? 0);
  const ended = new AbortController();
  const stream = await opened(url, ended.signal);
  for await (const { event, data } of stream.events) {
    print(eventLine(event, data));
    if ((JSON.parse(data) as { version: number }).version >= until) break;
  }
  ended.abort();
  return EXIT.ok;
}

async function opened(url: URL, signal: AbortSignal): ReturnType<typeof openEventStream> {
  const stream = await openEventStream(url.href, { signal }).catch(() => {
    throw new StartError(`${url.origin}: no answer. Is the manager running?`);
  });
  if (stream.status !== 200) throw new StartError(`${url.origin} answered with the HTTP status ${stream.status}`);
  return stream;
}
