/** A referee among a manager and two players on bare HTTP, which keep what they are sent and answer as a test says. */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { vi } from "vitest";
import { type Clock, systemClock } from "#shared/lib/clock.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { systemIds } from "#shared/lib/ids.ts";
import type { MessageType, StartGame } from "#shared/protocol/messages.ts";
import { signFor } from "#shared/protocol/signing.ts";
import { newEnvelope } from "#shared/protocol/testing/envelope.ts";
import type { Peers } from "#shared/rpc/peer/peer.ts";
import type { RunningAgent } from "#shared/runtime/agent.ts";
import { type Logger, openLog } from "#shared/runtime/process/logger.ts";
import { silentProcess } from "#shared/runtime/testing/process.ts";
import { createAsker } from "../match/ask.ts";
import type { MatchDriver } from "../match/driven-match.ts";
import { startReferee } from "../service.ts";
import type { SessionHost } from "../sessions/host.ts";

// biome-ignore lint/suspicious/noExplicitAny: whatever came over the wire
export type Wire = any;

/** What an agent was sent. */
export interface Heard {
  readonly to: "manager" | "P01" | "P02";
  readonly type: MessageType;
  readonly payload: Wire;
  /** Every byte of it. */
  readonly bytes: string;
  /** Resolves when whoever asked has hung up, answered or not. */
  readonly gone: Promise<void>;
}

/** How the others answer; without it P01 plays rock, P02 scissors, and the manager records every result. */
export interface Answers {
  readonly move?: (asked: Heard) => unknown;
  readonly result?: (reported: Heard) => object | null;
  /** A player's envelope in place of the usual one. */
  readonly player?: (asked: Heard) => object | null | Promise<never>;
}

/** The manager and the players, without a referee. */
export interface Others {
  readonly heard: Heard[];
  readonly manager: string;
  /** An order for a match of one round; every match has a seed and tokens of its own. */
  order(more?: object): StartGame;
  /** Resolves with the first message of this kind, about `epoch` if given. */
  told(to: Heard["to"], type: MessageType, matchId?: string, epoch?: number): Promise<Heard>;
  close(): void;
}

/** A driver of matches that calls players as REF01. */
export const testDriver = (host: SessionHost, peers: Peers, clock: Clock = systemClock): MatchDriver => ({
  host,
  asker: createAsker(peers, () => "referee:REF01", clock, systemIds),
  clock,
  ids: systemIds,
});

export const TOKEN = "the referee's own token";
export const seedOf = (matchId: string): string => `the seed of ${matchId}`;
export const tokenOf = (player: string, matchId: string): string => `${player} in ${matchId}`;
/** As the manager signs what it says of a match, or of its league. */
export const signed = (subject = "rps/R1M1"): string => signFor(sha256Hex(TOKEN), subject);

export async function startOthers(answers: Answers = {}): Promise<Others> {
  const heard: Heard[] = [];
  const servers: Server[] = [];
  const agent = async (to: Heard["to"], answer: (message: Heard) => object | Promise<object>): Promise<string> => {
    const server = createServer(async (request, response) => {
      let bytes = JSON.stringify(request.headers);
      let text = "";
      for await (const chunk of request.setEncoding("utf8")) text += chunk;
      bytes += text;
      const gone = new Promise<void>((resolve) => response.once("close", resolve));
      const { id, params } = JSON.parse(text);
      const { type, payload } = params.arguments;
      const message: Heard = { to, type, payload, bytes, gone };
      heard.push(message);
      const result = { content: [{ type: "text", text: JSON.stringify(await answer(message)) }] };
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  };
  const player = (name: "P01" | "P02", usual: string) =>
    agent(name, async (message) => {
      const { match_id, tick } = message.payload;
      const say = (type: MessageType, payload: object) => newEnvelope(type, `player:${name}`, payload);
      const unusual = await answers.player?.(message);
      if (unusual) return unusual;
      if (message.type === "GAME_INVITE") return say("GAME_INVITE_RESPONSE", { match_id, accept: true });
      if (message.type !== "MOVE_REQUEST") return say("ACK", {});
      const move = (await answers.move?.(message)) ?? usual;
      return say("MOVE_RESPONSE", { match_id, tick, move });
    });
  const manager = await agent("manager", (message) => {
    const recorded = newEnvelope("MATCH_RESULT_RESPONSE", "league_manager:LM01", { status: "RECORDED" });
    if (message.type === "MATCH_RESULT") return answers.result?.(message) ?? recorded;
    const accepted = { status: "ACCEPTED", referee_id: "REF01", auth_token: TOKEN, league_ids: ["rps"], matches: [] };
    return newEnvelope("REFEREE_REGISTER_RESPONSE", "league_manager:LM01", accepted);
  });
  const endpoints = { P01: await player("P01", "rock"), P02: await player("P02", "scissors") };
  return {
    heard,
    manager,
    order: (more = {}) => {
      const { match_id } = { match_id: "R1M1", ...more };
      const seat = (id: "P01" | "P02") => ({
        ...{ player_id: id, endpoint: endpoints[id], match_token: tokenOf(id, match_id), dialect: "native" },
        ...{ legal_actions: true, round_results: true, batch: false },
      });
      return {
        ...{ league_id: "rps", round_id: 1, match_id, epoch: 1, game: "rps.v1", options: {}, seed: seedOf(match_id) },
        roles: { player_1: seat("P01"), player_2: seat("P02") },
        timeouts: { join_ms: 20_000, move_ms: 20_000, game_over_ms: 5_000 },
        ...more,
      };
    },
    told: (to, type, matchId = "R1M1", epoch) =>
      vi.waitFor(
        () => {
          const isMeant = ({ payload }: Heard): boolean =>
            payload.match_id === matchId && (epoch === undefined || payload.epoch === epoch);
          const found = heard.find((one) => one.to === to && one.type === type && isMeant(one));
          if (!found) throw new Error(`${to} was not told ${type} of ${matchId}`);
          return found;
        },
        { timeout: 15_000, interval: 10 },
      ),
    close() {
      for (const server of servers) server.close().closeAllConnections();
    },
  };
}

/** The players of `order` in the roles of even/odd. */
export function evenOddRoles({ order }: Others): StartGame["roles"] {
  const { player_1, player_2 } = order().roles;
  return { ODD: player_1, EVEN: player_2 } as StartGame["roles"];
}

/** The same with a referee that is registered. */
export interface Table extends Others {
  readonly url: string;
  call(method: string, params: object): Promise<Wire>;
  /** A tool's plain answer. */
  tool(name: string, args: object): Promise<Wire>;
  /** Says something as the manager would; the answer's envelope, with whether it is an error. */
  say(type: MessageType, payload: object, authToken?: string): Promise<Wire>;
  /** Starts a match as the manager would. */
  begin(more?: object): Promise<Wire>;
  stop(): Promise<void>;
}

export async function startTable(
  answers: Answers = {},
  limitLoopback = false,
  log: Logger = openLog(null, "referee"),
): Promise<Table> {
  const others = await startOthers(answers);
  const dataFolder = mkdtempSync(join(tmpdir(), "match-"));
  const ready = Promise.withResolvers<string>();
  const quiet = silentProcess("referee", {
    log,
    // The last thing that it says of its registration.
    say: (line: string) => void (line.startsWith("registered") && registered.resolve()),
    report: (report: Wire) => ready.resolve(report.url),
  });
  const registered = Promise.withResolvers<void>();
  const place = { name: "R", host: "127.0.0.1", manager: others.manager, dataFolder, ports: [0] };
  const referee: RunningAgent = await startReferee({ ...place, maxConcurrentMatches: 4, limitLoopback }, quiet);
  const url = `${await ready.promise}/mcp`;
  await registered.promise;
  const call: Table["call"] = async (method, params) => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    return (await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body })).json();
  };
  const tool: Table["tool"] = async (name, args) => {
    const { result, error } = await call("tools/call", { name, arguments: args });
    return error ?? { isError: result.isError ?? false, ...JSON.parse(result.content[0].text) };
  };
  const say: Table["say"] = (type, payload, authToken) =>
    tool("league_message", newEnvelope(type, "league_manager:LM01", payload, { authToken }));
  return {
    ...{ ...others, url, call, tool, say },
    begin(more) {
      const order = others.order(more);
      return say("START_GAME", order, signed(`rps/${order.match_id}`));
    },
    async stop() {
      await referee.stop();
      others.close();
      rmSync(dataFolder, { recursive: true, force: true });
    },
  };
}
