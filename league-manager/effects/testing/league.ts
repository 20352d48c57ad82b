import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished, vi } from "vitest";
import { sha256Hex } from "#shared/lib/hash.ts";
import type { Result } from "#shared/lib/result.ts";
import { type ManualClock, manualClock } from "#shared/lib/testing/clock.ts";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import type { ProtocolError } from "#shared/protocol/errors.ts";
import { MatchCapacity } from "#shared/protocol/message-fields.ts";
import type { MatchResult, StartGame } from "#shared/protocol/messages.ts";
import { defaultOf } from "#shared/runtime/defaults.ts";
import type { AdmissionPolicy } from "../../agents/places.ts";
import { type ReportReply, reportResult } from "../../commands/match-commands.ts";
import { registerPlayer, registerReferee } from "../../commands/register.ts";
import type { Effects } from "../../effects.ts";
import { type League, type Match, roundOf } from "../../league/league.ts";
import type { Ledger } from "../../ledger.ts";
import { played } from "../../testing/results.ts";
import { startTestAgent, type TestAgent } from "./agents.ts";
import { type ManagerOptions, seedOf, startManager, type TestManager } from "./manager.ts";

const POLICY: AdmissionPolicy = {
  places: [],
  startWhen: "count",
  joinCode: null,
  operatorTokenHash: "",
  maxPlayers: new Map(),
  allowedContacts: { hosts: [], endpoints: [] },
};
export interface TestLeagueOptions
  extends Partial<Pick<ManagerOptions, "timeouts" | "log" | "network" | "ledger" | "effects" | "settings">> {
  readonly players?: number;
  readonly referees?: number;
  readonly maxConcurrent?: number;
  readonly leagues?: readonly string[];
  /** The number of players at which the leagues start. Default: `players`. */
  readonly minPlayers?: number;
}

/** A manager without its API: a ledger on a file and the effects, with agents P01, P02, … and REF01, REF02, … at HTTP servers of the test. */
export class TestLeague {
  readonly clock: ManualClock;
  readonly notices: string[];
  readonly #options: ManagerOptions;
  readonly #leagueIds: readonly string[];
  readonly #maxConcurrent: number;
  readonly #agents = new Map<string, TestAgent>();
  #manager: TestManager;

  constructor(options: ManagerOptions, leagueIds: readonly string[], maxConcurrent: number, manager: TestManager) {
    this.clock = options.clock;
    this.notices = options.notices;
    this.#options = options;
    this.#leagueIds = leagueIds;
    this.#maxConcurrent = maxConcurrent;
    this.#manager = manager;
  }

  ledger(): Ledger {
    return this.#manager.ledger;
  }

  effects(): Effects {
    return this.#manager.effects;
  }

  agent(id: string): TestAgent {
    const agent = this.#agents.get(id);
    if (!agent) throw new Error(`no agent ${id}`);
    return agent;
  }

  league(leagueId = "rps"): League {
    return this.#manager.ledger.state.leagues.get(leagueId) as League;
  }

  round(roundId = 1, leagueId = "rps"): readonly Match[] {
    return roundOf(this.league(leagueId), roundId)?.matches ?? [];
  }

  /** Advances the clock until `check` returns without throwing. `each` is called before each check. */
  eventually<T>(check: () => T, each: () => Promise<void> = async () => {}): Promise<T> {
    return vi.waitFor(
      async () => {
        await this.clock.advance(50);
        await each();
        return check();
      },
      { ...WAIT_OPTIONS, interval: 2 },
    ) as Promise<T>;
  }

  /** Resolves with a START_GAME that the referee has received since the last start of the manager. */
  order(refereeId: string, matchId: string, epoch = 1): Promise<StartGame> {
    return this.eventually(() => {
      const orders = this.agent(refereeId).orders();
      const found = orders.find((order) => order.match_id === matchId && order.epoch === epoch);
      if (!found) throw new Error(`${refereeId} received no START_GAME for ${matchId}`);
      return found;
    });
  }

  async report(refereeId: string, result: MatchResult): Promise<Result<ReportReply, ProtocolError>> {
    const match = { matchId: result.match_id, epoch: result.epoch } as Match;
    const seed = seedOf(this.league(result.league_id), match);
    return this.#manager.ledger.execute(reportResult(result, refereeId, seed));
  }

  /** Reports a result for each match of a round, when its referee has received START_GAME. */
  async playRound(roundId: number): Promise<void> {
    const matches = await this.eventually(() => {
      const round = this.round(roundId);
      const isAssigned = round.length > 0 && round.every(({ status }) => status === "assigned");
      if (!isAssigned) throw new Error("the round is not assigned");
      return round;
    });
    for (const { matchId, refereeId, epoch } of matches) {
      const order = await this.order(refereeId ?? "", matchId, epoch);
      const answer = await this.report(refereeId ?? "", played(order));
      if (!answer.ok) throw new Error(answer.error.message);
    }
  }

  async registerPlayer(id: string, agent?: TestAgent, more: object = {}, dialect = "native"): Promise<void> {
    const testAgent = await this.#agentFor(id, agent);
    const request = {
      display_name: id,
      version: "1",
      game_types: ["rps.v1"],
      contact_endpoint: testAgent.url,
      ...more,
    };
    const command = registerPlayer(POLICY, {
      request,
      ...this.#registrationContext(testAgent.token),
      presence: { departed: new Set(), present: new Set() },
      isFromEndpoint: true,
      dialect,
    });
    testAgent.token = acceptedToken(id, await this.#manager.ledger.execute(command));
  }

  async registerReferee(
    id: string,
    maxConcurrent = this.#maxConcurrent,
    gameTypes: readonly string[] = ["rps.v1"],
    more: object = {},
  ): Promise<void> {
    const testAgent = await this.#agentFor(id);
    const agent = { display_name: id, version: "1", game_types: [...gameTypes], contact_endpoint: testAgent.url };
    const request = { ...agent, max_concurrent_matches: maxConcurrent, ...more };
    const registration = {
      request,
      ...this.#registrationContext(testAgent.token),
      silent: this.#manager.effects.silentReferees(),
    };
    testAgent.token = acceptedToken(id, await this.#manager.ledger.execute(registerReferee(POLICY, registration)));
    this.#manager.effects.onRefereeRegistered(id);
  }

  /** Stops the manager, calls `meanwhile`, and starts the manager again on the same file with a config of these leagues. */
  async restart(meanwhile?: () => unknown, leagueIds: readonly string[] = this.#leagueIds): Promise<void> {
    await this.stop();
    for (const agent of this.#agents.values()) agent.received.length = 0;
    this.notices.length = 0;
    await meanwhile?.();
    this.#manager = await startManager(this.#options, leagueIds);
  }

  stop(): Promise<void> {
    return this.#manager.stop();
  }

  async #agentFor(id: string, existing = this.#agents.get(id)): Promise<TestAgent> {
    const agent = existing ?? (await startTestAgent());
    this.#agents.set(id, agent);
    return agent;
  }

  #registrationContext(token: string) {
    return {
      token: token || null,
      remoteAddress: "127.0.0.1",
      salt: "salt",
      machineAddresses: new Set<string>(),
      newToken: sha256Hex(`${this.#agents.size}`).slice(0, 43),
    };
  }
}

/** Returns the token in the answer to a registration. Throws if it was not accepted under this id. */
function acceptedToken(id: string, answer: { ok: boolean; value?: unknown; error?: unknown }): string {
  const { agentId, token } = (answer.value ?? {}) as { agentId?: string; token?: string };
  if (agentId !== id || token === undefined) throw new Error(`${id} is not testAgent: ${JSON.stringify(answer)}`);
  return token;
}

/** Starts leagues whose agents have registered. They are stopped at the end of the current test. */
export async function startTestLeague({
  players = 2,
  referees = 1,
  maxConcurrent = defaultOf(MatchCapacity),
  leagues = ["rps"],
  minPlayers = players,
  ...more
}: TestLeagueOptions = {}): Promise<TestLeague> {
  const folder = mkdtempSync(join(tmpdir(), "effects-"));
  const options: ManagerOptions = {
    ...more,
    file: join(folder, "league-manager.sqlite"),
    clock: manualClock(),
    notices: [],
    minPlayers: new Map(leagues.map((leagueId) => [leagueId, minPlayers])),
  };
  const league = new TestLeague(options, leagues, maxConcurrent, await startManager(options, leagues));
  onTestFinished(async () => {
    await league.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  for (const id of ids("REF", referees)) await league.registerReferee(id);
  for (const id of ids("P", players)) await league.registerPlayer(id);
  return league;
}

const ids = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${String(index + 1).padStart(2, "0")}`);
