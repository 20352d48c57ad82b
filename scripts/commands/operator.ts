import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { systemClock } from "#shared/lib/clock.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { counted, escapeJson, inOneLine } from "#shared/lib/text.ts";
import { faultsText, fieldFaults, type MessageType, newEnvelope } from "#shared/protocol/envelope.ts";
import { openEventStream } from "#shared/rpc/http/event-stream.ts";
import type { CallFault } from "#shared/rpc/peer/call.ts";
import { createPeers } from "#shared/rpc/peer/peer.ts";
import { Config } from "#shared/runtime/config/config.ts";
import { MANAGER_ENDPOINT } from "#shared/runtime/defaults.ts";
import { isInUse } from "#shared/runtime/files/locked-store.ts";
import { EXIT, exitOfRejection, StartError } from "#shared/runtime/process/exit.ts";
import { LEAGUE_COMMAND } from "#shared/runtime/program.ts";
import {
  Added,
  Annulled,
  Ended,
  Extended,
  Forgotten,
  LeagueStatus,
  Opened,
  Paused,
  Removed,
  Resumed,
  Scheduled,
  Started,
  TokenReset,
} from "../../league-manager/api/tool-schemas.ts";
import { forgetIn, isPlayerId, type Places } from "../archive/personal-data.ts";
import { findStore, findStores } from "../archive/stored-run.ts";
import { managerUrlOf } from "../run/agents.ts";
import { readJson } from "../run/json-file.ts";

const TIMEOUT_MS = 10_000;

/** The options of all operator commands. */
interface OperatorFlags {
  /** The data folder of the manager, with the operator token. */
  readonly data: string;
  /** The endpoint of the manager; absent for the manager that `league serve` runs with the data folder. */
  readonly manager?: string;
}

/** `league start`: starts leagues with the players that are registered. Rejects with StartError at the first rejection. */
export async function startLeagues(leagues: readonly string[], flags: OperatorFlags): Promise<number> {
  for (const league_id of leagues) {
    await request("START_LEAGUE", { league_id }, Started, flags);
    print(`${league_id} has started`);
  }
  return EXIT.ok;
}

/** `league schedule`: adds a match of these players, one for each role, to a round of a running league. */
export async function scheduleMatch(
  named: readonly string[],
  flags: OperatorFlags & { readonly round: number; readonly league?: string },
): Promise<number> {
  const players = await Promise.all(named.map((player) => playerIdOf(player, flags)));
  const match = { players, round_id: flags.round, ...(flags.league !== undefined && { league_id: flags.league }) };
  const { league_id, match_id } = await request("SCHEDULE_MATCH", match, Scheduled, flags);
  print(`${league_id} ${match_id} is scheduled for round ${flags.round}`);
  return EXIT.ok;
}

/** `league remove`: removes a player from open leagues and forfeits its matches of later rounds. */
export async function removePlayer(player: string, flags: OperatorFlags): Promise<number> {
  const player_id = await playerIdOf(player, flags);
  await request("REMOVE_PLAYER", { player_id }, Removed, flags);
  print(`${player_id} is removed`);
  return EXIT.ok;
}

/** `league forget`: erases the personal data of a player. */
export const forget = (player: string, flags: OperatorFlags & Places): Promise<number> =>
  forgetIn(player, flags, { clock: systemClock, ids: systemIds, forgetAtManager });

/** Lets the manager erase the profile of a player. */
async function forgetAtManager(player: string, flags: OperatorFlags): Promise<void> {
  const player_id = await playerIdOf(player, flags);
  await request("FORGET_PLAYER", { player_id }, Forgotten, flags);
}

/** `league reset-token`: prints a new token for a player that has lost its token. */
export async function resetToken(player: string, flags: OperatorFlags): Promise<number> {
  const player_id = await playerIdOf(player, flags);
  const { auth_token } = await request("RESET_TOKEN", { player_id }, TokenReset, flags);
  print(`The new token of ${player_id} is ${auth_token}`);
  print("Write it into the file tokens/player-NAME in the data folder of the player, and start the player again.");
  return EXIT.ok;
}

export const print = (line: string): void => void process.stdout.write(`${inOneLine(line)}\n`);

/** Sends a request with the operator token. Resolves with the payload of the reply. Rejects with StartError if the request fails or is rejected. */
export async function request<Reply extends z.ZodType>(
  type: MessageType,
  payload: object,
  replySchema: Reply,
  flags: OperatorFlags,
): Promise<z.infer<Reply>> {
  const bearer = operatorToken(flags.data);
  const endpoint = endpointOf(flags);
  const envelope = newEnvelope(type, "league_manager:operator", payload, {
    messageId: systemIds.uuid(),
    at: systemClock.iso(),
  });
  const peers = createPeers({ clock: systemClock });
  try {
    const reply = await peers.message(endpoint, envelope, { timeoutMs: TIMEOUT_MS, bearer });
    if (!reply.ok) throw failedRequest(endpoint, reply.error);
    const { type: replyType, payload: answer } = reply.value;
    if (replyType.endsWith("_ERROR")) throw rejectedRequest(answer);
    const parsed = replySchema.safeParse(answer);
    if (!parsed.success) {
      const faults = faultsText(fieldFaults(parsed.error, "payload"));
      throw new StartError(`${endpoint} is not a league manager: it answered with ${replyType}: ${faults}`);
    }
    return parsed.data;
  } finally {
    await peers.close();
  }
}

/** Returns the error of a request that the manager has rejected with LEAGUE_ERROR or GAME_ERROR. */
export function rejectedRequest(error: Readonly<Record<string, unknown>>, prefix = ""): StartError {
  const context = z.object({ cause: z.string() }).safeParse(error.context);
  const exitCode = exitOfRejection(error.error_code, context.data?.cause);
  return new StartError(`${prefix}${inOneLine(String(error.message))}`, exitCode);
}

/** Returns the error of a request that has no reply. A JSON-RPC error is an answer, so the manager is running. */
export const failedRequest = (endpoint: string, { cause, detail }: Pick<CallFault, "cause" | "detail">): StartError =>
  cause === "refused" || cause === "timeout"
    ? new StartError(`${endpoint}: no answer (${detail}). Is the manager running?`)
    : new StartError(`${endpoint} has not executed the request: ${inOneLine(detail)}`);

/** Returns the id of a player that the operator names by its id or by its name. Rejects with StartError if no player or several have the name. */
async function playerIdOf(player: string, flags: OperatorFlags): Promise<string> {
  if (isPlayerId(player)) return player;
  const { leagues } = await request("LEAGUE_STATUS", {}, LeagueStatus, flags);
  const names = new Map(leagues.flatMap(({ players }) => players.map((one) => [one.player_id, one.display_name])));
  const [found, ...others] = [...names].flatMap(([id, name]) => (name === player ? [id] : []));
  if (found !== undefined && others.length === 0) return found;
  if (found !== undefined)
    throw new StartError(
      `several players have the name ${player}: give one of the ids ${[found, ...others].join(", ")}`,
    );
  throw new StartError(
    `no player ${inOneLine(player)} is in a league: give the id or the name that league status shows`,
  );
}

/** Returns the operator token: the environment variable LEAGUE_TOKEN, else that of a data folder. Throws StartError if there is none. */
function operatorToken(data: string): string {
  const given = process.env.LEAGUE_TOKEN?.trim();
  if (given) return given;
  const file = join(managerFolder(data), TOKEN_FILE);
  if (!existsSync(file)) {
    throw new StartError(`${file}: no such file; --data names the data folder of the manager`, EXIT.usage);
  }
  return readFileSync(file, "utf8").trim();
}

/** Returns the endpoint of the manager that the options of a command name. */
const endpointOf = ({ manager, data }: OperatorFlags): string => manager ?? servedAt(data);

/** Returns the endpoint of the manager that `league serve` runs with a data folder, or `league run` with the folder of a run, else the default endpoint. */
function servedAt(data: string): string {
  for (const file of ["serve.json", "config.json"]) {
    const served = z.object({ manager: Config.shape.manager }).safeParse(readJson(join(managerFolder(data), file)));
    if (served.success) return managerUrlOf(served.data);
  }
  return MANAGER_ENDPOINT;
}

/** The commands that show, open and change the leagues of a running manager. */

/** `league open`: opens a league like one that is over. */
export async function openLeague(league_id: string, flags: OperatorFlags & { readonly like: string }): Promise<number> {
  const { like } = await request("OPEN_LEAGUE", { league_id, like: flags.like }, Opened, flags);
  const start = `${LEAGUE_COMMAND} start ${league_id}${addressOf(flags)}`;
  print(
    `${league_id} is open for registration, with the settings that the config gives ${like}; start it with: ${start}`,
  );
  return EXIT.ok;
}

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

type Status = z.infer<typeof LeagueStatus>;

/** The status of leagues and referees as lines of text. */
export function statusLines({ leagues, referees }: Status): readonly string[] {
  const unfinished = leagues.filter(({ status }) => status !== "completed");
  const isFinished = leagues.length > 0 && unfinished.length === 0;
  const playing = new Set(unfinished.flatMap(({ players }) => players.map(({ player_id }) => player_id)));
  const busy = referees.map(
    ({ referee_id, state, answers, max_matches }) =>
      `${referee_id} ${stateText(state, isFinished)}${answers ? "" : ", does not answer"} (at most ${counted(max_matches, "match", "matches")} at once)`,
  );
  return [
    ...leagues.flatMap((league) => leagueLines(league, playing)),
    `referees: ${busy.length === 0 ? "none is registered" : busy.join(", ")}`,
  ].map((line) => inOneLine(line));
}

/** The state of an agent for people. All agents are shut down when their leagues are over, which is no fault. */
const stateText = (state: string | null, isFinished: boolean): string =>
  state === "SHUTDOWN" && isFinished ? "finished" : (state ?? "not registered");

/** `playing`: the ids of the players in leagues that are not completed. */
function leagueLines(league: Status["leagues"][number], playing: ReadonlySet<string>): readonly string[] {
  const { league_id, game, format, format_options, status, players } = league;
  // `"late_entry": "makeup"` in a config sets the option `makeup`. It has a line for itself.
  const shown = Object.entries(format_options).filter(([name]) => name !== league.late_entry);
  const options = shown.map(([name, value]) => `${name} ${JSON.stringify(value)}`);
  const formatText = [format, ...options].join(", ");
  return [
    `${league_id}: ${status}, ${game}, ${formatText}`,
    ...(league.late_entry === "closed" ? [] : [`  late_entry: ${league.late_entry}`]),
    ...(league.clock === null ? [] : [`  clocks: ${clockText(league.clock)}`]),
    ...(league.starts_at === null ? [] : [`  starts at ${league.starts_at}`]),
    ...(league.waits_for === null ? [] : [`  waits: ${league.waits_for}`]),
    ...(league.rounds === 0 ? [] : [`  ${progressOf(league)}`]),
    ...(league.round_ends_at === null ? [] : [`  round ${league.current_round} ends at ${league.round_ends_at}`]),
    ...(league.result ? [`  ${league.result.text}`] : []),
    ...players.map(
      ({ rank, player_id, display_name, state, points }) =>
        `  ${rank}. ${display_name} (${player_id}), ${points} points, ${stateText(state, !playing.has(player_id))}`,
    ),
    "",
  ];
}

const clockText = ({ initial_ms, increment_ms }: { initial_ms: number; increment_ms: number }): string =>
  `${initial_ms / 1000} s for all moves, and ${increment_ms / 1000} s more with each move`;

function progressOf({
  current_round,
  rounds,
  completed,
  matches,
  being_played,
  expected_matches,
}: Status["leagues"][number]) {
  const round = current_round === null ? counted(rounds, "round") : `round ${current_round}`;
  const played = `${counted(completed, "match", "matches")} completed, ${being_played} being played, ${matches} paired`;
  const end =
    expected_matches === null || expected_matches === matches ? "" : `, at most ${expected_matches} at the end`;
  return `${round}: ${played}${end}`;
}

/** One event of a league's stream as a line: its time, its type and its fields. */
function eventLine(type: string, data: string): string {
  const { at = "", type: _, league_id: __, version: ___, ...fields } = JSON.parse(data) as Record<string, unknown>;
  const texts = Object.entries(fields).map(
    ([name, value]) => `${name}=${typeof value === "string" && !/[\s=]/.test(value) ? value : JSON.stringify(value)}`,
  );
  return inOneLine([String(at), type, ...texts].join(" "));
}

/** The file with the operator token in the folder of a manager. */
const TOKEN_FILE = "operator-token";
/** The files that a running manager locks: its database, or a name if the run is in a database of several managers. */
const LOCKED_FILES = ["league-manager.sqlite", "league-manager"];

/**
 * Returns the folder of the manager that a data folder means: of the folder itself and of the runs in it, the one whose manager runs. If none runs, it is
 * the folder itself if it has an operator token, else its newest run, as for `league export`.
 */
export function managerFolder(data: string): string {
  const folder = resolve(data);
  const stores = findStores(folder);
  const folders = [folder, ...stores.map(dirname)].filter((one) => existsSync(join(one, TOKEN_FILE)));
  const running = folders.find(hasRunningManager);
  if (running !== undefined) return running;
  return folders.includes(folder) || stores.length === 0 ? folder : dirname(findStore(folder));
}

const hasRunningManager = (folder: string): boolean =>
  LOCKED_FILES.map((name) => join(folder, name)).some((file) => existsSync(`${file}.lock`) && isInUse(file));
