import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished, vi } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import type { Result } from "#shared/lib/result.ts";
import { type ManualClock, manualClock } from "#shared/lib/testing-clock.ts";
import type { ProtocolError } from "#shared/protocol/errors.ts";
import { MatchCapacity } from "#shared/protocol/match-capacity.ts";
import type { MatchResult, StartGame } from "#shared/protocol/messages.ts";
import { Timeouts } from "#shared/protocol/timeouts.ts";
import { createPeers, type Peers } from "#shared/rpc/peer/peer.ts";
import { defaultOf } from "#shared/runtime/defaults.ts";
import { type Logger, openLog } from "#shared/runtime/process/logger.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { testWriter } from "#shared/store/testing-writer.ts";
import type { AdmissionPolicy } from "../../agents/policy.ts";
import { openLeagues } from "../../commands/leagues.ts";
import { registerPlayer, registerReferee } from "../../commands/register.ts";
import { type ReportReply, reportResult } from "../../commands/report.ts";
import { createEffects, type Effects, type EffectsOptions } from "../../effects.ts";
import type { League, Match } from "../../league/league.ts";
import { leagueSeed, seedOfMatch } from "../../league/seeds.ts";
import type { Ledger } from "../../ledger.ts";
import { openLedger } from "../../store/ledger.ts";
import { loadState } from "../../store/load-state.ts";
import { managerStore } from "../../store/manager-store.ts";
import { MANAGER_SCHEMA } from "../../store/schema.ts";
import { played } from "../../testing/results.ts";
import { startTestAgent, type TestAgent } from "./agents.ts";

const GAME = {
  game: "rps.v1",
  roles: ["player_1", "player_2"],
  options: { best_of: 1 },
  format: "round-robin",
} as const;
const POLICY: AdmissionPolicy = {
  ...{ places: [], startWhen: "count", joinCode: null, operatorTokenHash: "", maxPlayers: new Map() },
  allowedContacts: { hosts: [], endpoints: [] },
};
const seedOf = ({ leagueId }: League, { matchId, epoch }: Match): string =>
  seedOfMatch(leagueSeed("seed", leagueId), leagueId, matchId, epoch);

export interface TestLeagueOptions {
  readonly players?: number;
  readonly referees?: number;
  readonly maxConcurrent?: number;
  readonly leagues?: readonly string[];
  /** How many players start a league. Default: all of them. */
  readonly minPlayers?: number;
  readonly timeouts?: Partial<Timeouts>;
  readonly log?: Logger;
  /** Wraps the network of each start of the manager. */
  readonly network?: (peers: Peers) => Peers;
  /** Wraps the ledger that the effects of each start are given. */
  readonly ledger?: (ledger: Ledger) => Ledger;
  readonly effects?: Partial<EffectsOptions>;
}

/** A manager without its API: a ledger on a file and the effects, with scripted agents P01, P02, … and REF01, REF02, … over HTTP. */
export interface TestLeague {
  readonly clock: ManualClock;
  readonly notices: string[];
  readonly ledger: () => Ledger;
  readonly effects: () => Effects;
  readonly agent: (id: string) => TestAgent;
  readonly league: (leagueId?: string) => League;
  /** The matches of a round as `match referee epoch status`. */
  readonly round: (roundId?: number, leagueId?: string) => readonly Match[];
  /** Lets time pass until the check holds; it holds when it returns without throwing. `each` is called each time before. */
  eventually<T>(check: () => T, each?: () => Promise<void>): Promise<T>;
  /** Waits for the order of a match from the manager that runs now. */
  order(refereeId: string, matchId: string, epoch?: number): Promise<StartGame>;
  report(refereeId: string, result: MatchResult): Promise<Result<ReportReply, ProtocolError>>;
  /** Waits for the order of each match of a round at its referee, and reports a result for each. */
  playRound(roundId: number): Promise<void>;
  registerPlayer(id: string, agent?: TestAgent, more?: object): Promise<void>;
  registerReferee(id: string, maxConcurrent?: number, gameTypes?: readonly string[]): Promise<void>;
  /** Stops the manager and starts it again on the same file, with a config of these leagues. */
  restart(meanwhile?: () => unknown, leagueIds?: readonly string[]): Promise<void>;
}

export async function startTestLeague(options: TestLeagueOptions = {}): Promise<TestLeague> {
  const {
    players = 2,
    referees = 1,
    maxConcurrent = defaultOf(MatchCapacity),
    leagues = ["rps"],
    minPlayers = players,
  } = options;
  const folder = mkdtempSync(join(tmpdir(), "effects-"));
  const file = join(folder, "league-manager.sqlite");
  const clock = manualClock();
  const notices: string[] = [];
  const agents = new Map<string, TestAgent>();
  let manager = await startManager(leagues);
  onTestFinished(async () => {
    await manager.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function startManager(leagueIds: readonly string[]) {
    const db = openSqlite(file, MANAGER_SCHEMA);
    const store = managerStore(db, testWriter(db));
    const loaded = loadState(store, leagueIds);
    const ledger = openLedger({ store, loaded, clock, leagueIds, onFatal: () => {} });
    const peers = (options.network ?? ((network) => network))(createPeers({ clock: systemClock }));
    await ledger.execute(
      openLeagues(leagueIds.map((leagueId) => ({ leagueId, runId: "run", ...GAME, seedCommitment: "commitment" }))),
    );
    const effects = createEffects({
      ...{
        ledger: (options.ledger ?? ((real) => real))(ledger),
        peers,
        clock,
        machineAddresses: () => new Set<string>(),
        seedOf,
        log: options.log ?? openLog(null, "test"),
      },
      notice: (message) => notices.push(message),
      timeouts: Timeouts.parse({ default_ms: 2_000, ...options.timeouts }),
      leagueStart: {
        ...{ places: [], startWhen: "count", onStuck: () => {}, onWaiting: () => {} },
        minPlayers: new Map(leagues.map((leagueId) => [leagueId, minPlayers])),
      },
      ...options.effects,
    });
    effects.start();
    return {
      ...{ ledger, effects },
      async stop() {
        await effects.stop();
        await ledger.settled();
        await peers.close();
        await store.close();
        db.close();
      },
    };
  }

  const agentOf = (id: string): TestAgent => {
    const agent = agents.get(id);
    if (!agent) throw new Error(`no agent ${id}`);
    return agent;
  };
  const circumstances = (token: string) => ({
    ...{ token: token || null, remoteAddress: "127.0.0.1", salt: "salt" },
    machineAddresses: new Set<string>(),
    newToken: sha256Hex(`${agents.size}`).slice(0, 43),
  });
  const accepted = (id: string, answer: { ok: boolean; value?: unknown; error?: unknown }): string => {
    const { agentId, token } = (answer.value ?? {}) as { agentId?: string; token?: string };
    if (agentId !== id || token === undefined) throw new Error(`${id} is not registered: ${JSON.stringify(answer)}`);
    return token;
  };

  const league: TestLeague = {
    ...{ clock, notices },
    ledger: () => manager.ledger,
    effects: () => manager.effects,
    agent: agentOf,
    league: (leagueId = "rps") => manager.ledger.state.leagues.get(leagueId) as League,
    round: (roundId = 1, leagueId = "rps") => league.league(leagueId).rounds[roundId - 1]?.matches ?? [],
    eventually: (check, each = async () => {}) =>
      vi.waitFor(
        async () => {
          await clock.advance(50);
          await each();
          return check();
        },
        { timeout: 20_000, interval: 2 },
      ),
    order: (refereeId, matchId, epoch = 1) =>
      league.eventually(() => {
        const orders = agentOf(refereeId).orders();
        const found = orders.find((one) => one.match_id === matchId && one.epoch === epoch);
        if (!found) throw new Error(`${refereeId} was not given ${matchId}`);
        return found;
      }),
    async report(refereeId, result) {
      const [one, match] = [league.league(result.league_id), result];
      const seed = seedOf(one, { matchId: match.match_id, epoch: match.epoch } as Match);
      return manager.ledger.execute(reportResult(result, refereeId, seed));
    },
    async playRound(roundId) {
      const matches = await league.eventually(() => {
        const round = league.round(roundId);
        const isAssigned = round.length > 0 && round.every(({ status }) => status === "assigned");
        if (!isAssigned) throw new Error("the round is not assigned");
        return round;
      });
      for (const { matchId, refereeId, epoch } of matches) {
        const order = await league.order(refereeId ?? "", matchId, epoch);
        const answer = await league.report(refereeId ?? "", played(order));
        if (!answer.ok) throw new Error(answer.error.message);
      }
    },
    async registerPlayer(id, agent, more = {}) {
      const known = agent ?? agents.get(id) ?? (await startTestAgent());
      agents.set(id, known);
      const request = { display_name: id, version: "1", game_types: ["rps.v1"], contact_endpoint: known.url, ...more };
      const command = registerPlayer(POLICY, { request, ...circumstances(known.token), left: new Set() });
      known.token = accepted(id, await manager.ledger.execute(command));
    },
    async registerReferee(id, most = maxConcurrent, gameTypes = ["rps.v1"]) {
      const known = agents.get(id) ?? (await startTestAgent());
      agents.set(id, known);
      const request = { display_name: id, version: "1", game_types: [...gameTypes], contact_endpoint: known.url };
      const registration = { request: { ...request, max_concurrent_matches: most }, ...circumstances(known.token) };
      const command = registerReferee(POLICY, { ...registration, silent: manager.effects.silent() });
      known.token = accepted(id, await manager.ledger.execute(command));
      manager.effects.welcome(id);
    },
    async restart(meanwhile, leagueIds = leagues) {
      await manager.stop();
      for (const agent of agents.values()) agent.received.length = 0;
      notices.length = 0;
      await meanwhile?.();
      manager = await startManager(leagueIds);
    },
  };
  const ids = (prefix: string, count: number): string[] =>
    Array.from({ length: count }, (_, index) => `${prefix}${String(index + 1).padStart(2, "0")}`);
  for (const id of ids("REF", referees)) await league.registerReferee(id);
  for (const id of ids("P", players)) await league.registerPlayer(id);
  return league;
}
