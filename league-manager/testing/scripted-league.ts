import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, type TestContext, vi } from "vitest";
import { PATIENCE } from "#shared/lib/testing-patience.ts";
import type { Envelope } from "#shared/protocol/envelope.ts";
import { MatchCapacity } from "#shared/protocol/match-capacity.ts";
import type { MatchResult, MessageType, StartGame } from "#shared/protocol/messages.ts";
import { newEnvelope } from "#shared/protocol/testing-envelope.ts";
import type { RunningAgent } from "#shared/runtime/agent.ts";
import { Config } from "#shared/runtime/config/config.ts";
import { defaultOf } from "#shared/runtime/defaults.ts";
import { silentProcess } from "#shared/runtime/testing/process.ts";
import type { Agent } from "../agents/agent.ts";
import type { Match } from "../league/league.ts";
import type { Decide } from "../ledger.ts";
import type { ResultsDocument } from "../projections/document.ts";
import { keptDocument } from "../projections/kept-document.ts";
import type { LiveEvent } from "../projections/live.ts";
import { startManager } from "../service.ts";
import { changeKept, keptState } from "./kept-state.ts";

// biome-ignore lint/suspicious/noExplicitAny: whatever came over the wire
type Wire = any;

/** An agent that a test controls: it accepts every match, plays none, and keeps the messages that it received. */
interface ScriptedAgent {
  readonly url: string;
  readonly told: Envelope[];
  token: string;
  /** Whether it answers the nth health probe since this function was set. */
  isWell: (time: number) => boolean;
  readonly probes: () => number;
  /** The START_GAMEs that it received since the last start of the manager. */
  orders: () => readonly StartGame[];
  isListening: () => boolean;
  listen(): Promise<void>;
  close(): Promise<void>;
}

/** A manager in this process with scripted players P01, P02, … and referees REF01, REF02, …, all registered. */
export interface ScriptedLeague {
  readonly dataFolder: string;
  readonly player: (id: string) => ScriptedAgent;
  readonly referee: (id: string) => ScriptedAgent;
  /** Of the manager that runs now. */
  readonly events: () => readonly LiveEvent[];
  /** Starts the league `rps`; further matches of P01 and P02 in round 1 come on top. */
  begin(more?: number): Promise<void>;
  /** Stops the manager, and starts it anew on the same folder. */
  restart(meanwhile?: () => unknown): Promise<void>;
  say(type: MessageType, sender: string, payload: object, authToken: string): Promise<Wire>;
  /** Reports the result of a match in the name of its referee. */
  report(refereeId: string, result: MatchResult): Promise<Wire>;
  /** The first order for a match that the referee has had from the manager that runs now; waits for it. */
  order(refereeId: string, matchId: string): Promise<StartGame>;
  /** Waits until every league is over. */
  over(): Promise<ResultsDocument>;
  /** The matches of the league in the manager's file. */
  matches(): readonly Match[];
  /** A registered agent in the manager's file. */
  kept(id: string): Agent;
  /** Commits a decision to the manager's file; the manager must not run. */
  change(decide: Decide<unknown>): Promise<void>;
}

/** `test` is the test that uses it: several tests may run at the same time. */
export async function startScriptedLeague(
  test: TestContext,
  {
    players = 2,
    referees = 1,
    maxConcurrent = defaultOf(MatchCapacity),
    seed = "s" as string | null,
    laterLeagues = [] as string[],
  } = {},
): Promise<ScriptedLeague> {
  const dataFolder = mkdtempSync(join(tmpdir(), "scripted-"));
  const leagues = ["rps", ...laterLeagues].map((league_id) => ({ league_id, game: "rps.v1" }));
  const config = Config.parse({ leagues, timeouts: { default_ms: 2_000, join_ms: 500 } });
  const agents = new Map<string, ScriptedAgent>();
  let manager: RunningAgent | undefined;
  let url = "";
  let events: LiveEvent[] = [];
  test.onTestFinished(async () => {
    await manager?.stop();
    for (const agent of agents.values()) await agent.close();
    rmSync(dataFolder, { recursive: true, force: true });
  });

  const start = async (): Promise<void> => {
    const mine: LiveEvent[] = [];
    events = mine;
    manager = await startManager(
      {
        ...{ config, port: 0, dataFolder, seed },
        onEvent: (event) => mine.push(event),
      },
      silentProcess("manager", {
        report: (report) => {
          if (report.type === "ready") url = `${report.url}/mcp`;
        },
      }),
    );
  };
  const tool = async (name: string, args: object, bearer?: string): Promise<Wire> => {
    const headers = { "content-type": "application/json", ...(bearer && { authorization: `Bearer ${bearer}` }) };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } });
    const { result, error } = (await (await fetch(url, { method: "POST", headers, body })).json()) as Wire;
    return error ?? { isError: result.isError ?? false, ...JSON.parse(result.content[0].text) };
  };
  const say: ScriptedLeague["say"] = (type, sender, payload, authToken) =>
    tool("league_message", newEnvelope(type, sender, payload, { authToken }));
  const agent = (id: string): ScriptedAgent => {
    const found = agents.get(id);
    if (!found) throw new Error(`no agent ${id}`);
    return found;
  };
  const leagueIds = leagues.map(({ league_id }) => league_id);
  const state = () => keptState(dataFolder, leagueIds);

  await start();
  const ids = (prefix: string, count: number): string[] =>
    Array.from({ length: count }, (_, index) => `${prefix}0${index + 1}`);
  for (const id of [...ids("P", players), ...ids("REF", referees)]) {
    const one = await scriptedAgent();
    agents.set(id, one);
    const player = { display_name: id, version: "1.0.0", game_types: ["rps.v1"], contact_endpoint: one.url };
    const registered = id.startsWith("P")
      ? (await say("PLAYER_REGISTER_REQUEST", `player:${id}`, { ...player, league_ids: ["rps"] }, "")).payload
      : await tool("register_referee", {
          ...{ referee_name: id, endpoint: one.url, max_concurrent_matches: maxConcurrent },
        });
    expect(registered).toMatchObject({ status: "ACCEPTED" });
    one.token = registered.auth_token;
  }

  return {
    dataFolder,
    player: agent,
    referee: agent,
    events: () => events,
    async begin(more = 0) {
      const operator = readFileSync(join(dataFolder, "operator-token"), "utf8").trim();
      expect(await tool("start_league", { league_id: "rps" }, operator)).toMatchObject({ status: "STARTED" });
      for (let count = 0; count < more; count++) {
        const match = { league_id: "rps", player1_id: "P01", player2_id: "P02", round_id: 1 };
        expect(await tool("schedule_match", match, operator)).toMatchObject({ status: "SCHEDULED" });
      }
    },
    async restart(meanwhile) {
      await manager?.stop();
      manager = undefined;
      for (const one of agents.values()) one.told.length = 0;
      await meanwhile?.();
      await start();
    },
    say,
    report: (id, result) => say("MATCH_RESULT", `referee:${id}`, result, agent(id).token),
    order: (id, matchId) =>
      vi.waitFor(() => {
        const found = agent(id)
          .orders()
          .find((one) => one.match_id === matchId);
        if (!found) throw new Error(`${id} was not given ${matchId}`);
        return found;
      }, PATIENCE),
    over: () =>
      vi.waitFor(() => {
        const isOver = events.some((event) => event.type === "all_completed");
        if (!isOver) throw new Error("the leagues are not over");
        return keptDocument(config, join(dataFolder, "league-manager.sqlite"));
      }, PATIENCE),
    matches: () =>
      state()
        .leagues.get("rps")
        ?.rounds.flatMap(({ matches }) => matches) ?? [],
    kept(id) {
      const found = state().agents.get(id);
      if (!found) throw new Error(`${id} is not registered`);
      return found;
    },
    change: (decide) => changeKept(dataFolder, leagueIds, decide),
  };
}

async function scriptedAgent(): Promise<ScriptedAgent> {
  const told: Envelope[] = [];
  let probes = 0;
  let isWell = (_time: number): boolean => true;
  const server = createServer(async (request, response) => {
    if (request.method !== "POST") return void response.writeHead(isWell(++probes) ? 200 : 503).end("");
    let text = "";
    for await (const chunk of request.setEncoding("utf8")) text += chunk;
    const { id, params } = JSON.parse(text);
    told.push(params.arguments);
    const reply = newEnvelope("START_GAME_RESPONSE", "referee:x", { status: "ACCEPTED" });
    const result = { content: [{ type: "text", text: JSON.stringify(reply) }] };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
  });
  const listen = (port: number): Promise<void> => new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    told,
    token: "",
    set isWell(how) {
      probes = 0;
      isWell = how;
    },
    get isWell() {
      return isWell;
    },
    probes: () => probes,
    orders: () => told.flatMap(({ type, payload }) => (type === "START_GAME" ? [payload as StartGame] : [])),
    isListening: () => server.listening,
    listen: () => listen(port),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
