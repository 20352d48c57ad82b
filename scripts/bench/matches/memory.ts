import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { text } from "node:stream/consumers";
import { Command } from "commander";
import { systemClock } from "#shared/lib/clock.ts";

import { systemIds } from "#shared/lib/ids.ts";
import { type Envelope, newEnvelope } from "#shared/protocol/envelope.ts";
import type { MessageType, StartGame } from "#shared/protocol/messages.ts";

import { createPeers } from "#shared/rpc/peer/peer.ts";
import { countOption, withUsageExit } from "#shared/runtime/cli/options.ts";
import { freePorts } from "#shared/runtime/process/free-ports.ts";
import { launch, type Measured, peakKb, sleep, temporaryFolder } from "../process.ts";
import { recordRounds, resultOf } from "../record.ts";

/** `node scripts/bench/matches/memory.ts`: the most memory that a manager takes for one large league, while it plays and after a restart. */
const {
  players,
  rounds,
  recorded: recordedRounds,
} = withUsageExit(new Command("bench-memory"))
  .description("Peak memory of a league manager with one league. Players and referee are one server in this process.")
  .option("--players <n>", "players of the league", countOption, 1_000)
  .option("--rounds <n>", "rounds to play", countOption, 3)
  .option("--recorded <n>", "rounds that are recorded before, without being played", countOption, 0)
  .parse()
  .opts<{ players: number; rounds: number; recorded: number }>();

const LEAGUE = "large";
const CALL = { timeoutMs: 60_000 };
/** Enough for every match of a round. */
const MAX_CONCURRENT = 100_000;

const [managerPort = 0, agentPort = 0] = await freePorts(2);
const managerUrl = `http://127.0.0.1:${managerPort}/mcp`;
const folder = temporaryFolder();
const peers = createPeers({ clock: systemClock });
let recorded = 0;
const faults: string[] = [];
const refereeToken = systemIds.token();

let hasStarted = false;
/** While the earlier rounds are not recorded, no match is reported. */
let isReporting = recordedRounds === 0;
const isToPlay = (roundId: number): boolean => isReporting && roundId <= recordedRounds + rounds;

const endpointOf = (name: string): string => `http://127.0.0.1:${agentPort}/${name}/mcp`;

/** Sends the manager a message and returns the payload of its answer. */
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

/** A match that was taken from the referee in the meantime, e.g. because this process was too busy to answer a probe, is assigned again. */
async function report(order: StartGame): Promise<void> {
  const answer = await send("MATCH_RESULT", "referee:REF01", resultOf(order), refereeToken);
  if (answer.error_code === undefined) recorded++;
  else if (answer.error_code !== "L004") throw new Error(JSON.stringify(answer));
}

/** Accepts everything; reports a result for each START_GAME. */
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
  const result = { content: [{ type: "text", text: JSON.stringify(reply) }] };
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
  // Rounds after those that are to be played stay open.
  const order = envelope.payload as StartGame;
  if (isOrder && isToPlay(order.round_id)) report(order).catch((thrown) => faults.push(String(thrown)));
}

const start = (): Promise<Measured> =>
  launch("league-manager/main.ts", ["--config", configFile, "--data", folder, "--port", String(managerPort)]);

async function until(check: () => boolean, isWatched: () => string): Promise<void> {
  for (let waited = 0; !check(); waited++) {
    if (faults.length > 0) throw new Error(faults[0]);
    if (waited % 50 === 49) process.stderr.write(`${isWatched()}\n`);
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
const tell = (what: string, { pid }: Measured): void => {
  const now = /VmRSS:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  process.stdout.write(`${what}: peak ${megabytes(pid)}, now ${(Number(now) / 1024).toFixed(0)} MB\n`);
};

let manager = await start();
tell("started", manager);
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
tell(`${players} players registered`, manager);
if (recordedRounds > 0) {
  await until(
    () => hasStarted,
    () => "the league has not started",
  );
  tell("league started", manager);
  await manager.stop();
  const matches = await recordRounds(join(folder, "league-manager.sqlite"), LEAGUE, recordedRounds);
  manager = await start();
  tell(`started again with ${matches} recorded matches and no snapshot`, manager);
  await manager.stop();
  isReporting = true;
  manager = await start();
  tell("started again with a snapshot", manager);
}
const ofRound = Math.floor(players / 2);
const allRounds = players - 1 + (players % 2);
const last = Math.min(recordedRounds + rounds, allRounds);
for (let round = recordedRounds + 1; round <= last; round++) {
  const begun = performance.now();
  await until(
    () => recorded >= (round - recordedRounds) * ofRound,
    () => `${recorded} results`,
  );
  tell(`round ${round} of ${allRounds} played in ${((performance.now() - begun) / 1_000).toFixed(1)} s`, manager);
}
if (last === allRounds) {
  const db = new DatabaseSync(join(folder, "league-manager.sqlite"), { readOnly: true, timeout: 5_000 });
  const select = db.prepare("SELECT 1 FROM log WHERE type = 'completed'");
  await until(
    () => select.get() !== undefined,
    () => "the league is not completed",
  );
  db.close();
  await sleep(3_000);
  tell("league completed", manager);
}
await manager.stop();
manager = await start();
await sleep(3_000);
tell("started again", manager);
await manager.stop();
server.closeAllConnections();
server.close();
await peers.close();
process.exit();
