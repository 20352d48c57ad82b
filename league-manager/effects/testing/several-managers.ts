import { onTestFinished, vi } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { type ManualClock, manualClock } from "#shared/lib/testing/clock.ts";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import type { Envelope } from "#shared/protocol/envelope.ts";
import { Timeouts } from "#shared/protocol/message-fields.ts";
import type { StartGame } from "#shared/protocol/messages.ts";
import { createPeers, type Peers } from "#shared/rpc/peer/peer.ts";
import { openLog } from "#shared/runtime/process/logger.ts";
import { leagueFollowUps, openLeagues } from "../../commands/league-commands.ts";
import { reportResult } from "../../commands/match-commands.ts";
import { player, referee } from "../../commands/testing/commands.ts";
import { createEffects, type Effects } from "../../effects.ts";
import { type League, leagueSeed, type Match } from "../../league/league.ts";
import { SETTINGS } from "../../league/testing/leagues.ts";
import type { Decide } from "../../ledger.ts";
import type { JobSource } from "../../match-queue.ts";
import { loadSharedState, SharedLedger } from "../../shared-run/shared-ledger.ts";
import type { ModelDatabase } from "../../shared-run/testing/model-database.ts";
import { modelRun } from "../../shared-run/testing/model-run.ts";
import { played } from "../../testing/results.ts";
import { startTestAgent, type TestAgent } from "./agents.ts";
import { seedOf } from "./manager.ts";

/** A message that a manager has sent. */
interface Sent {
  /** The number of the manager. */
  readonly by: number;
  readonly to: string;
  readonly envelope: Envelope;
}

interface Manager {
  readonly ledger: SharedLedger;
  readonly effects: Effects;
  readonly database: ModelDatabase;
  stop(): Promise<void>;
}

interface Options {
  readonly leagueIds: readonly string[];
  /** The games of the leagues, if they are not rock-paper-scissors. */
  readonly games?: Readonly<Record<string, string>>;
  /** The number of players at which each league starts. */
  readonly minPlayers: number;
  /** The number of jobs that a manager holds at most. */
  readonly maxJobs: number;
}

/** Managers of one run in a model of their database: ledgers, queues and effects, with agents at HTTP servers of the test. */
export class SeveralManagers {
  readonly clock: ManualClock = manualClock();
  readonly managers: Manager[] = [];
  readonly agents = new Map<string, TestAgent>();
  /** The messages in the order in which they were sent. */
  readonly sent: Sent[] = [];
  /** The numbers of the managers whose probes get no answer. */
  readonly cutOff = new Set<number>();
  /** The number of the manager that owns all leagues. */
  owner = 0;
  readonly #run = modelRun(this.clock);
  readonly #options: Options;
  readonly #onOwner = new Set<() => void>();

  constructor(options: Options) {
    this.#options = options;
    onTestFinished(async () => {
      for (const manager of this.managers) await this.settled(manager.stop());
      await this.#run.close();
    });
  }

  /** Starts another manager. */
  async start(): Promise<void> {
    const { leagueIds, games = {}, minPlayers, maxJobs } = this.#options;
    const { clock, managers } = this;
    const by = managers.length;
    const database = await this.#run.connect();
    const loaded = await this.settled(loadSharedState(database, leagueIds));
    const leagueSeedOf = (leagueId: string): string => leagueSeed("seed", leagueId);
    const followUps = leagueFollowUps(leagueSeedOf);
    const onFatal = (error: Error): void => {
      throw error;
    };
    const ledger = new SharedLedger({ database, loaded, clock, ids: systemIds, leagueIds, followUps, onFatal });
    const leagues = leagueIds.map((leagueId) => ({ ...SETTINGS, leagueId, game: games[leagueId] ?? SETTINGS.game }));
    await this.settled(ledger.execute(openLeagues(leagues)));
    const peers = createPeers({ clock: systemClock });
    const timeouts = Timeouts.parse({ default_ms: 2_000 });
    const effects = createEffects({
      ledger,
      clock,
      timeouts,
      seedOf,
      leagueSeedOf,
      peers: this.#recorded(peers, by),
      machineAddresses: () => new Set<string>(),
      endpointFor: (_referee, endpoint) => endpoint,
      log: openLog(null, "test"),
      notice: () => {},
      moveLimits: { ofLeague: () => timeouts.move_ms, ofPlayer: () => undefined },
      leagueStart: {
        places: [],
        startWhen: "count",
        onStuck: () => {},
        onWaiting: () => {},
        minPlayers: new Map(leagueIds.map((leagueId) => [leagueId, minPlayers])),
      },
      duties: {
        ownsLeague: () => this.owner === by,
        onChange: (listener) => {
          this.#onOwner.add(listener);
          return () => void this.#onOwner.delete(listener);
        },
      },
      queue: limited(database.queue, maxJobs),
      signals: {
        send: (text) => void database.signal(text).catch(() => {}),
        onSignal: (listener) => database.onSignal(listener),
      },
    });
    effects.start();
    let stopping: Promise<void> | null = null;
    const stop = async (): Promise<void> => {
      await effects.stop();
      await ledger.stop();
      await peers.close();
      await database.close();
    };
    managers.push({ ledger, effects, database, stop: () => (stopping ??= stop()) });
  }

  /** Makes another manager the owner of all leagues. */
  changeOwner(owner: number): void {
    this.owner = owner;
    for (const listener of this.#onOwner) listener();
  }

  at(number: number): Manager {
    return this.managers[number] as Manager;
  }

  league(leagueId: string, number = 0): League {
    return this.at(number).ledger.state.leagues.get(leagueId) as League;
  }

  match(leagueId: string, matchId: string): Match | undefined {
    return this.league(leagueId)
      .rounds.flatMap(({ matches }) => matches)
      .find((match) => match.matchId === matchId);
  }

  async registerReferee(number: number, name: string, maxConcurrent: number): Promise<void> {
    const port = await this.#agent(name);
    const request = { port, game_types: ["rps.v1"], max_concurrent_matches: maxConcurrent };
    await this.execute(number, referee(name, request));
  }

  async registerPlayer(number: number, name: string, more: Parameters<typeof player>[1] = {}): Promise<void> {
    const port = await this.#agent(name);
    await this.execute(number, player(name, { port, game_types: ["rps.v1"], ...more }));
  }

  async execute<Reply>(number: number, decide: Decide<Reply>): Promise<Reply> {
    const answer = await this.settled(this.at(number).ledger.execute(decide));
    if (!answer.ok) throw new Error(answer.error.message);
    return answer.value;
  }

  /** Reports the result of a match that its referee was ordered to play, at a manager. */
  async report(number: number, order: StartGame): Promise<void> {
    const match = this.match(order.league_id, order.match_id);
    await this.execute(number, reportResult(played(order), match?.refereeId ?? "", order.seed));
  }

  /** The START_GAMEs that were sent, each match and epoch once. */
  orders(): readonly StartGame[] {
    const orders = this.ofType("START_GAME").map(({ envelope }) => envelope.payload as StartGame);
    return [...new Map(orders.map((order) => [`${order.league_id}/${order.match_id}/${order.epoch}`, order])).values()];
  }

  ofType(type: Envelope["type"]): readonly Sent[] {
    return this.sent.filter(({ envelope }) => envelope.type === type);
  }

  /** Advances the clock until `check` returns without throwing. `each` is called before each check. */
  eventually<T>(check: () => T, each: () => Promise<unknown> = async () => {}): Promise<T> {
    const attempt = async (): Promise<T> => {
      await this.clock.advance(20);
      await each();
      return check();
    };
    return vi.waitFor(attempt, { ...WAIT_OPTIONS, interval: 2 }) as Promise<T>;
  }

  /** Advances the clock until a promise is settled. */
  async settled<T>(promise: Promise<T>): Promise<T> {
    let isOver = false;
    const end = (): void => {
      isOver = true;
    };
    promise.then(end, end);
    while (!isOver) await this.clock.advance(1);
    return promise;
  }

  async #agent(name: string): Promise<number> {
    const agent = this.agents.get(name) ?? (await startTestAgent());
    this.agents.set(name, agent);
    return Number(new URL(agent.url).port);
  }

  #recorded(peers: Peers, by: number): Peers {
    const record = (to: string, envelope: Envelope): void => void this.sent.push({ by, to, envelope });
    return {
      ...peers,
      probe: async (...probe) => (this.cutOff.has(by) ? "silent" : peers.probe(...probe)),
      message: (to, envelope, ...more) => {
        record(to, envelope);
        return peers.message(to, envelope, ...more);
      },
      notify: (to, envelope, ...more) => {
        record(to, envelope);
        return peers.notify(to, envelope, ...more);
      },
    };
  }
}

/** A queue that gives its manager at most this number of jobs at the same time. */
function limited(queue: JobSource, maxJobs: number): JobSource {
  let held = 0;
  return {
    ...queue,
    work: (slots, handler) =>
      queue.work(
        () => Math.min(slots(), maxJobs - held),
        (job, signal) => {
          held++;
          signal.addEventListener("abort", () => held--);
          handler(job, signal);
        },
      ),
  };
}

/** Starts two managers, of which the first owns all leagues. */
export async function startTwoManagers(options: Partial<Options> = {}): Promise<SeveralManagers> {
  const managers = new SeveralManagers({ leagueIds: ["rps"], minPlayers: 8, maxJobs: 64, ...options });
  await managers.start();
  await managers.start();
  return managers;
}
