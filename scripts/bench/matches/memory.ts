import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { text } from "node:stream/consumers";
import { Command } from "commander";
import { systemClock } from "#shared/lib/clock.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { type Envelope, newEnvelope } from "#shared/protocol/envelope.ts";
import type { MessageType } from "#shared/protocol/message-types.ts";
import type { StartGame } from "#shared/protocol/messages.ts";
import { createPeers } from "#shared/rpc/peer/peer.ts";
import { rpcResponse, textResult } from "#shared/rpc/testing/json-rpc.ts";
import { countOption, withUsageExit } from "#shared/runtime/cli/options.ts";
import { freePorts } from "#shared/runtime/process/free-ports.ts";
import { launch, type Measured, sleep, temporaryFolder } from "../process.ts";
import { peakKb } from "../process-table.ts";
import { recordRounds, resultOf } from "../record.ts";

/** `node scripts/bench/matches/memory.ts` measures the peak memory of a manager with one large league, while it plays and after a restart. */
const {
  players,
  rounds,
  recorded: recordedRounds,
} = withUsageExit(new Command("bench-memory"))
  .description(
    "Measures the peak memory of a league manager with one league. This process answers for all players and the referee.",
  )
  .option("--players <n>", "number of players of the league", countOption, 1_000)
  .option("--rounds <n>", "number of rounds to play", countOption, 3)
  .option("--recorded <n>", "number of earlier rounds whose results are recorded without being played", countOption, 0)
  .parse()
  .opts<{ players: number; rounds: number; recorded: number }>();

const LEAGUE = "large";
const CALL = { timeoutMs: 60_000 };
/** More than the number of matches of any round. */
const MAX_CONCURRENT = 100_000;

const [managerPort = 0, agentPort = 0] = await freePorts(2);
const managerUrl = `http://127.0.0.1:${managerPort}/mcp`;
const folder = temporaryFolder();
const peers = createPeers({ clock: systemClock });
let resultCount = 0;
const faults: string[] = [];
const refereeToken = systemIds.token();

let hasStarted = false;
/** No match is reported before the earlier rounds are recorded. */
let isReporting = recordedRounds === 0;
const isToBeReported = (roundId: number): boolean => isReporting && roundId <= recordedRounds + rounds;

const endpointOf = (name: string): string => `http://127.0.0.1:${agentPort}/${name}/mcp`;

/** Sends a message to the manager and returns the payload of its answer. Throws if the message fails or is rejected. */
async function send(
  type: MessageType,
  sender: string,
  payload: object,
  authToken: string,
): Promise<Envelope["payload"]> {
  const reply = await peers.message(
    managerUrl,
    newEnvelope(type, sender, payload, { messageId: systemIds.uuid(), at: systemClock.iso(), authToken }),
    CALL,
  );
  if (!reply.ok) throw new Error(`${type}: ${reply.error.detail}`);
  if (reply.value.type === "LEAGUE_ERROR" && type !== "MATCH_RESULT")
    throw new Error(JSON.stringify(reply.value.payload));
  return reply.value.payload;
}

/**
 * Reports the result of a match. A rejection with L004 is ignored: the match was taken from the referee, for example because this process did not
 * answer a probe in time, and will be assigned again.
 */
async function report(order: StartGame): Promise<void> {
  const answer = await send("MATCH_RESULT", "referee:REF01", resultOf(order), refereeToken);
  if (answer.error_code === undefined) resultCount++;
  else if (answer.error_code !== "L004") throw new Error(JSON.stringify(answer));
}

/** Accepts every message, and reports a result for each START_GAME. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method === "GET") return void response.writeHead(200).end();
  const { id, params } = JSON.parse(await text(request));
  const envelope: Envelope = params.arguments;
  const stamp = { messageId: systemIds.uuid(), at: systemClock.iso() };
  const isOrder = envelope.type === "START_GAME";
  hasStarted ||= isOrder;
  const reply = isOrder
    ? newEnvelope("START_GAME_RESPONSE", "referee:REF01", { status: "ACCEPTED" }, stamp)
    : newEnvelope("ACK", "player:P01", {}, stamp);
  const result = textResult(reply);
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(rpcResponse(id, result)));
  // Matches of later rounds are never reported.
  const order = envelope.payload as StartGame;
  if (isOrder && isToBeReported(order.round_id)) report(order).catch((thrown) => faults.push(String(thrown)));
}

const startManager = (): Promise<Measured> =>
  launch("league-manager/main.ts", ["--config", configFile, "--data", folder, "--port", String(managerPort)]);

/** Waits until `check` returns true, and prints `status` every 5 seconds. Throws the first fault. */
async function waitUntil(check: () => boolean, status: () => string): Promise<void> {
  for (let polls = 1; !check(); polls++) {
    if (faults.length > 0) throw new Error(faults[0]);
    if (polls % 50 === 0) process.stderr.write(`${status()}\n`);
    await sleep(100);
  }
}

const configFile = join(folder, "league.json");
const league = {
  league_id: LEAGUE,
  game: "rps.v1",
  options: { best_of: 1 },
  max_players: players,
  min_players: players,
};
writeFileSync(configFile, JSON.stringify({ leagues: [league], players: [] }));
const server = createServer((request, response) => {
  answer(request, response).catch((thrown) => faults.push(String(thrown)));
});
server.listen(agentPort, "127.0.0.1");

const megabytes = (pid: number): string => `${(peakKb(pid) / 1024).toFixed(0)} MB`;
const printMemory = (step: string, { pid }: Measured): void => {
  const currentKb = /VmRSS:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  process.stdout.write(`${step}: peak ${megabytes(pid)}, now ${(Number(currentKb) / 1024).toFixed(0)} MB\n`);
};

let manager = await startManager();
printMemory("started", manager);
const referee = {
  display_name: "referee",
  version: "1",
  game_types: ["rps.v1"],
  contact_endpoint: endpointOf("referee"),
};
await send(
  "REFEREE_REGISTER_REQUEST",
  "referee:new",
  { ...referee, max_concurrent_matches: MAX_CONCURRENT },
  refereeToken,
);
for (let n = 1; n <= players; n++) {
  const player = {
    display_name: `player ${n}`,
    version: "1",
    game_types: ["rps.v1"],
    contact_endpoint: endpointOf(`${n}`),
  };
  await send("PLAYER_REGISTER_REQUEST", "player:new", player, systemIds.token());
}
printMemory(`${players} players registered`, manager);
if (recordedRounds > 0) {
  await waitUntil(
    () => hasStarted,
    () => "the league has not started",
  );
  printMemory("league started", manager);
  await manager.stop();
  const matches = await recordRounds(join(folder, "league-manager.sqlite"), LEAGUE, recordedRounds);
  manager = await startManager();
  printMemory(`started again with ${matches} recorded matches and no snapshot`, manager);
  await manager.stop();
  isReporting = true;
  manager = await startManager();
  printMemory("started again with a snapshot", manager);
}
const matchesPerRound = Math.floor(players / 2);
const roundCount = players - 1 + (players % 2);
const lastRound = Math.min(recordedRounds + rounds, roundCount);
for (let round = recordedRounds + 1; round <= lastRound; round++) {
  const startedAt = performance.now();
  await waitUntil(
    () => resultCount >= (round - recordedRounds) * matchesPerRound,
    () => `${resultCount} results`,
  );
  printMemory(
    `round ${round} of ${roundCount} played in ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`,
    manager,
  );
}
if (lastRound === roundCount) {
  const db = new DatabaseSync(join(folder, "league-manager.sqlite"), { readOnly: true, timeout: 5_000 });
  const select = db.prepare("SELECT 1 FROM log WHERE type = 'completed'");
  await waitUntil(
    () => select.get() !== undefined,
    () => "the league is not completed",
  );
  db.close();
  await sleep(3_000);
  printMemory("league completed", manager);
}
await manager.stop();
manager = await startManager();
await sleep(3_000);
printMemory("started again", manager);
await manager.stop();
server.closeAllConnections();
server.close();
await peers.close();
process.exit();
