import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, type TestContext, vi } from "vitest";
import { sha256Hex } from "#shared/lib/hash.ts";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import type { MessageType } from "#shared/protocol/envelope.ts";
import { MatchCapacity } from "#shared/protocol/message-fields.ts";
import type { MatchResult, StartGame } from "#shared/protocol/messages.ts";
import { newEnvelope } from "#shared/protocol/testing/envelope.ts";
import { rpcToolCall } from "#shared/rpc/testing/json-rpc.ts";
import type { AgentProcess, RunningAgent } from "#shared/runtime/agent.ts";
import { Config } from "#shared/runtime/config/config.ts";
import { defaultOf } from "#shared/runtime/defaults.ts";
import { silentProcess } from "#shared/runtime/testing/process.ts";
import type { Agent } from "../agents/registered-agent.ts";
import type { Match } from "../league/league.ts";
import type { Decide } from "../ledger.ts";
import type { LiveEvent } from "../projections/live-events.ts";
import { type ResultsDocument, storedDocument } from "../projections/results-document.ts";
import { startManager } from "../service.ts";
import { type ScriptedAgent, scriptedAgent } from "./scripted-agent.ts";
import { changeStoredState, storedState } from "./stored-state.ts";

// biome-ignore lint/suspicious/noExplicitAny: each test knows the shape of the manager's answer
type Wire = any;

/** A manager in this process with scripted players P01, P02, … and referees REF01, REF02, …, all registered. */
export class ScriptedLeague {
  readonly dataFolder = mkdtempSync(join(tmpdir(), "scripted-"));
  readonly #config: Config;
  readonly #seed: string | null;
  readonly #agents = new Map<string, ScriptedAgent>();
  #manager: RunningAgent | undefined;
  #url = "";
  #events: LiveEvent[] = [];

  /** `more` is merged into the config. */
  constructor(leagueIds: readonly string[], seed: string | null, more: object = {}) {
    const leagues = leagueIds.map((league_id) => ({ league_id, game: "rps.v1" }));
    this.#config = Config.parse({ leagues, timeouts: { default_ms: 2_000, join_ms: 500 }, ...more });
    this.#seed = seed;
  }

  player(id: string): ScriptedAgent {
    const found = this.#agents.get(id);
    if (!found) throw new Error(`no agent ${id}`);
    return found;
  }

  referee(id: string): ScriptedAgent {
    return this.player(id);
  }

  /** The live events since the last start of the manager. */
  events(): readonly LiveEvent[] {
    return this.#events;
  }

  async start(): Promise<void> {
    const events: LiveEvent[] = [];
    this.#events = events;
    const options = { config: this.#config, port: 0, dataFolder: this.dataFolder, seed: this.#seed };
    const report: AgentProcess["report"] = (ready) => {
      if (ready.type === "ready") this.#url = `${ready.url}/mcp`;
    };
    this.#manager = await startManager(
      { ...options, onEvent: (event) => events.push(event) },
      silentProcess("manager", { report }),
    );
  }

  /** Stops the manager, calls `meanwhile` and starts the manager again on the same folder. */
  async restart(meanwhile?: () => unknown): Promise<void> {
    await this.#stop();
    for (const agent of this.#agents.values()) agent.received.length = 0;
    await meanwhile?.();
    await this.start();
  }

  async close(): Promise<void> {
    await this.#stop();
    for (const agent of this.#agents.values()) await agent.close();
    rmSync(this.dataFolder, { recursive: true, force: true });
  }

  async #stop(): Promise<void> {
    const manager = this.#manager;
    this.#manager = undefined;
    await manager?.stop();
  }

  /** Starts an agent and registers it as a player if its name begins with P, else as a referee. */
  async register(id: string, maxConcurrent: number): Promise<void> {
    const agent = await scriptedAgent();
    this.#agents.set(id, agent);
    const player = { display_name: id, version: "1.0.0", game_types: ["rps.v1"], contact_endpoint: agent.url };
    const referee = { referee_name: id, endpoint: agent.url, max_concurrent_matches: maxConcurrent };
    const registered = id.startsWith("P")
      ? (await this.send("PLAYER_REGISTER_REQUEST", `player:${id}`, { ...player, league_ids: ["rps"] }, "")).payload
      : await this.#tool("register_referee", referee);
    expect(registered).toMatchObject({ status: "ACCEPTED" });
    agent.token = registered.auth_token;
  }

  /** Starts the league `rps` and adds `extraMatches` matches of P01 and P02 to round 1. */
  async begin(extraMatches = 0): Promise<void> {
    const operator = readFileSync(join(this.dataFolder, "operator-token"), "utf8").trim();
    expect(await this.#tool("start_league", { league_id: "rps" }, operator)).toMatchObject({ status: "STARTED" });
    for (let count = 0; count < extraMatches; count++) {
      const match = { league_id: "rps", player1_id: "P01", player2_id: "P02", round_id: 1 };
      expect(await this.#tool("schedule_match", match, operator)).toMatchObject({ status: "SCHEDULED" });
    }
  }

  send(type: MessageType, sender: string, payload: object, authToken: string): Promise<Wire> {
    return this.#tool("league_message", newEnvelope(type, sender, payload, { authToken }));
  }

  /** Reports the result of a match in the name of its referee. */
  report(refereeId: string, result: MatchResult): Promise<Wire> {
    return this.send("MATCH_RESULT", `referee:${refereeId}`, result, this.referee(refereeId).token);
  }

  /** Resolves with the first START_GAME for a match that the referee has received since the last start of the manager. */
  order(refereeId: string, matchId: string): Promise<StartGame> {
    return vi.waitFor(() => {
      const orders = this.referee(refereeId).orders();
      const found = orders.find(({ match_id }) => match_id === matchId);
      if (!found) throw new Error(`${refereeId} received no START_GAME for ${matchId}`);
      return found;
    }, WAIT_OPTIONS);
  }

  /** Resolves with the results when every league is over. */
  completion(): Promise<ResultsDocument> {
    return vi.waitFor(() => {
      const isOver = this.#events.some((event) => event.type === "all_completed");
      if (!isOver) throw new Error("the leagues are not over");
      return storedDocument(this.#config, join(this.dataFolder, "league-manager.sqlite"));
    }, WAIT_OPTIONS);
  }

  /** The matches of the league `rps` in the manager's file. */
  async matches(): Promise<readonly Match[]> {
    const league = (await this.#storedState()).leagues.get("rps");
    return league?.rounds.flatMap(({ matches }) => matches) ?? [];
  }

  /** A registered agent in the manager's file. */
  async storedAgent(id: string): Promise<Agent> {
    const found = (await this.#storedState()).agents.get(id);
    if (!found) throw new Error(`${id} is not registered`);
    return found;
  }

  /** Commits a decision to the manager's file; the manager must not run. */
  change(decide: Decide<unknown>): Promise<void> {
    return changeStoredState(this.dataFolder, this.#leagueIds(), decide);
  }

  #storedState() {
    return storedState(this.dataFolder, this.#leagueIds());
  }

  #leagueIds(): readonly string[] {
    return this.#config.leagues.map(({ league_id }) => league_id);
  }

  async #tool(name: string, args: object, bearer?: string): Promise<Wire> {
    const headers = { "content-type": "application/json", ...(bearer && { authorization: `Bearer ${bearer}` }) };
    const body = JSON.stringify(rpcToolCall(name, args));
    const { result, error } = (await (await fetch(this.#url, { method: "POST", headers, body })).json()) as Wire;
    return error ?? { isError: result.isError ?? false, ...JSON.parse(result.content[0].text) };
  }
}

/** The seed of the run of a scripted league. */
export const RUN_SEED = sha256Hex("s");

/** Starts a scripted league that is closed at the end of `test`. Several tests may run at the same time. */
export async function startScriptedLeague(
  test: TestContext,
  {
    players = 2,
    referees = 1,
    maxConcurrent = defaultOf(MatchCapacity),
    seed = RUN_SEED as string | null,
    laterLeagues = [] as string[],
    config = {},
  } = {},
): Promise<ScriptedLeague> {
  const league = new ScriptedLeague(["rps", ...laterLeagues], seed, config);
  test.onTestFinished(() => league.close());
  await league.start();
  const ids = (prefix: string, count: number): string[] =>
    Array.from({ length: count }, (_, index) => `${prefix}0${index + 1}`);
  for (const id of [...ids("P", players), ...ids("REF", referees)]) await league.register(id, maxConcurrent);
  return league;
}
