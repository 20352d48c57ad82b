import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { systemClock } from "#shared/lib/clock.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { inOneLine } from "#shared/lib/text.ts";
import { faultsText, fieldFaults, type MessageType, newEnvelope } from "#shared/protocol/envelope.ts";
import type { CallFault } from "#shared/rpc/peer/call.ts";
import { createPeers } from "#shared/rpc/peer/peer.ts";
import { Config } from "#shared/runtime/config/config.ts";
import { MANAGER_ENDPOINT } from "#shared/runtime/defaults.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import {
  Forgotten,
  LeagueStatus,
  Removed,
  Scheduled,
  Started,
  TokenReset,
} from "../../league-manager/api/tool-schemas.ts";
import { forgetIn, type Places } from "../archive/personal-data/personal-data.ts";
import { isPlayerId } from "../archive/personal-data/player-data.ts";
import { managerFolder, TOKEN_FILE } from "../operator/manager-folder.ts";
import { managerUrlOf } from "../run/agents.ts";
import { readJson } from "../run/json-file.ts";

const TIMEOUT_MS = 10_000;

/** The options of all operator commands. */
export interface OperatorFlags {
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
    if (replyType.endsWith("_ERROR")) throw new StartError(inOneLine(String(answer.message)));
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

/** Returns the error of a request that has no reply. A JSON-RPC error is an answer, so the manager is running. */
export const failedRequest = (endpoint: string, { cause, detail }: Pick<CallFault, "cause" | "detail">): StartError =>
  cause === "refused" || cause === "timeout"
    ? new StartError(`${endpoint}: no answer (${detail}). Is the manager running?`)
    : new StartError(`${endpoint} has not executed the request: ${inOneLine(detail)}`);

/** Returns the id of a player that the operator names by its id or by its name. Rejects with StartError if no player or several have the name. */
export async function playerIdOf(player: string, flags: OperatorFlags): Promise<string> {
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
export const endpointOf = ({ manager, data }: OperatorFlags): string => manager ?? servedAt(data);

/** Returns the endpoint of the manager that `league serve` runs with a data folder, or `league run` with the folder of a run, else the default endpoint. */
function servedAt(data: string): string {
  for (const file of ["serve.json", "config.json"]) {
    const served = z.object({ manager: Config.shape.manager }).safeParse(readJson(join(managerFolder(data), file)));
    if (served.success) return managerUrlOf(served.data);
  }
  return MANAGER_ENDPOINT;
}
