import { randomUUID } from "node:crypto";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { rpcLeagueMessage, rpcResponse, textResult } from "#shared/rpc/testing/json-rpc.ts";
import { listenOnLoopback } from "#shared/rpc/testing/loopback.ts";
import { storedState } from "../../../league-manager/testing/stored-state.ts";
import { agentsIn, cleanUp, eventually, type Running, start } from "../../testing/processes.ts";
import { type TestLeague, testLeague } from "../../testing/test-league.ts";

// biome-ignore lint/suspicious/noExplicitAny: JSON from the wire
type WireValue = any;

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
  await cleanUp();
});

/** Starts an endpoint in this process that answers each JSON-RPC body with the result of `answer`. */
async function startEndpoint(port: number, answer: (text: string) => Promise<string>): Promise<void> {
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request.setEncoding("utf8")) text += chunk;
    if (request.method !== "POST") return void response.writeHead(404).end();
    const body = await answer(text);
    response.setHeader("content-type", "application/json");
    response.end(body);
  });
  servers.push(server);
  await listenOnLoopback(server, port);
}

const post = async (port: number, body: string): Promise<string> => {
  const headers = { "content-type": "application/json" };
  return (await fetch(`http://127.0.0.1:${port}/mcp`, { method: "POST", headers, body })).text();
};

const toolReply = (id: unknown, value: object): string => JSON.stringify(rpcResponse(id, textResult(value)));
const envelope = (type: string, payload: object, sender = "player:P02") => ({
  protocol: "league.v2",
  message_id: randomUUID(),
  type,
  sender,
  timestamp: new Date().toISOString(),
  payload,
});

/** Registers Player2, a plain HTTP server. It answers MOVE_REQUEST after `mayMove` has resolved. Resolves with the array to which it appends the messages that it receives. */
async function scriptedPlayer(
  { port, portAt }: TestLeague,
  mayMove: (payload: WireValue) => Promise<void>,
): Promise<WireValue[]> {
  const received: WireValue[] = [];
  await startEndpoint(portAt(11), async (text) => {
    const { id, params } = JSON.parse(text);
    const { type, payload } = params.arguments;
    received.push({ type, ...payload });
    const { match_id, tick, legal_actions } = payload;
    if (type === "GAME_INVITE") return toolReply(id, envelope("GAME_INVITE_RESPONSE", { match_id, accept: true }));
    if (type !== "MOVE_REQUEST") return toolReply(id, envelope("ACK", {}));
    await mayMove(payload);
    const move = legal_actions[tick % legal_actions.length];
    return toolReply(id, envelope("MOVE_RESPONSE", { match_id, tick, move }));
  });
  const contact_endpoint = `http://127.0.0.1:${portAt(11)}/mcp`;
  const about = { display_name: "Player2", version: "1.0.0", game_types: ["rps.v1"], contact_endpoint };
  const me = envelope("PLAYER_REGISTER_REQUEST", about);
  const call = rpcLeagueMessage(me);
  await post(port, JSON.stringify(call));
  return received;
}

/** Starts a proxy of the manager at `port`. Resolves with the array to which it appends the manager's answers to registrations of referees. */
async function startRecordingProxy(test: TestLeague, port: number): Promise<WireValue[]> {
  const answers: WireValue[] = [];
  await startEndpoint(port, async (text) => {
    const answer = await post(test.port, text);
    const { type, payload } = JSON.parse(JSON.parse(answer).result?.content[0].text ?? "{}");
    if (type === "REFEREE_REGISTER_RESPONSE") answers.push(payload);
    return answer;
  });
  return answers;
}

/** A bot that moves slowly, so that the match still runs when a restarted referee could interfere with it. */
const SLOW_BOT = `import { setTimeout } from "node:timers/promises";
export default async ({ legal, random }) => {
  await setTimeout(60);
  return random.pick(legal);
};
`;

it("a restarted referee does not continue a match that was assigned to another referee", async () => {
  const timeouts = { move_ms: 60_000 };
  const rps = [{ league_id: "rps", game: "rps.v1", options: { best_of: 15 } }];
  const files = { "slow.ts": SLOW_BOT };
  const players = [
    { name: "Player1", bot: "./slow.ts" },
    { name: "Player2", self: true },
  ];
  const test = await testLeague([], rps, { referees: 2, files, config: { timeouts, players } });
  const data = join(test.folder, "data");
  const agent = (script: string, port: number, manager: number, ...more: string[]): Running =>
    start(script, [
      "--port",
      String(test.portAt(port)),
      "--manager",
      `http://127.0.0.1:${test.portAt(manager)}/mcp`,
      "--data",
      data,
      ...more,
    ]);
  const referees = { REF01: () => agent("referee/main.ts", 1, 5), REF02: () => agent("referee/main.ts", 2, 0) };
  const matches = async () => {
    const { leagues } = await storedState(data, ["rps"]);
    return leagues.get("rps")?.rounds.flatMap((round) => round.matches);
  };

  const manager = start("league-manager/main.ts", ["--config", test.file, "--data", data, "--roster"]);
  await manager.line(/league manager at/);
  const registrations = await startRecordingProxy(test, test.portAt(5));
  const first = referees.REF01();
  await Promise.all([first.line(/registered as REF01/), referees.REF02().line(/registered as REF02/)]);
  const bot = join(test.folder, "slow.ts");
  await agent("player/main.ts", 10, 0, "--bot", bot, "--name", "Player1").line(/registered as P01/);
  /** Player2 never answers the third turn of epoch 1. In epoch 2 it answers after the first referee has been restarted. */
  const isBack = Promise.withResolvers<void>();
  const received = await scriptedPlayer(test, async ({ epoch, tick }) => {
    if (epoch === 1 && tick >= 4) await new Promise(() => {});
    if (epoch === 2) await isBack.promise;
  });
  const isAsked = (epoch: number, tick: number): boolean =>
    received.some((one) => one.type === "MOVE_REQUEST" && one.epoch === epoch && one.tick >= tick);
  await eventually("the third turn", () => isAsked(1, 4));
  expect(await matches()).toMatchObject([{ refereeId: "REF01", epoch: 1 }]);

  first.signal("SIGKILL");
  await first.ended;
  await eventually("a request of the other referee under epoch 2", () => isAsked(2, 0));
  const countAtRestart = received.length;
  expect(registrations).toHaveLength(1);
  const restarted = referees.REF01();
  await restarted.line(/registered as REF01/);
  expect(registrations[1]).toMatchObject({ status: "ACCEPTED", referee_id: "REF01", matches: [] });
  isBack.resolve();
  await manager.line(/league rps is completed/);
  await eventually("the result", () => received.some(({ type }) => type === "GAME_RESULT"));

  // After the end of the league a restarted referee gets no matches either.
  restarted.signal("SIGKILL");
  await restarted.ended;
  await referees.REF01().line(/registered as REF01/);
  expect(registrations[2]).toMatchObject({ status: "ACCEPTED", referee_id: "REF01", matches: [] });

  const laterMessages = received.slice(countAtRestart).filter(({ epoch }) => epoch !== undefined);
  expect(laterMessages.map(({ epoch }) => epoch)).toEqual(laterMessages.map(() => 2));
  expect(received.filter(({ type }) => type === "GAME_RESULT")).toMatchObject([{ epoch: 2, termination: "normal" }]);
  const outcome = { termination: "normal", faults: [] };
  expect(await matches()).toMatchObject([{ status: "completed", epoch: 2, refereeId: "REF02", outcome }]);
  // The manager, two referees and Player1 still run.
  expect(agentsIn(test.folder)).toHaveLength(4);
});
