/** The part of the league manager that the tests of effects need: a ledger on a file, and the effects. */
import { systemClock } from "#shared/lib/clock.ts";
import type { ManualClock } from "#shared/lib/testing/clock.ts";
import { Timeouts } from "#shared/protocol/message-fields.ts";
import { createPeers, type Peers } from "#shared/rpc/peer/peer.ts";
import { type Logger, openLog } from "#shared/runtime/process/logger.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { testWriter } from "#shared/store/testing/writer.ts";
import { leagueFollowUps, openLeagues } from "../../commands/league-commands.ts";
import { createEffects, type EffectsOptions } from "../../effects.ts";
import { type League, type LeagueSettings, leagueSeed, type Match, seedOfMatch } from "../../league/league.ts";
import { SETTINGS } from "../../league/testing/leagues.ts";
import type { Ledger } from "../../ledger.ts";
import { loadState } from "../../store/manager-state.ts";
import { MANAGER_SCHEMA, managerStore } from "../../store/manager-store.ts";
import { openLedger } from "../../store/store-ledger.ts";

const leagueSeedOf = (leagueId: string): string => leagueSeed("seed", leagueId);

export const seedOf = ({ leagueId }: League, { matchId, epoch }: Match): string =>
  seedOfMatch(leagueSeedOf(leagueId), leagueId, matchId, epoch);

/** The options that all starts of a manager share. */
export interface ManagerOptions {
  readonly file: string;
  readonly clock: ManualClock;
  readonly notices: string[];
  /** The number of players at which each league starts, by league id. */
  readonly minPlayers: ReadonlyMap<string, number>;
  readonly timeouts?: Partial<Timeouts> | undefined;
  readonly log?: Logger | undefined;
  /** Wraps the network. */
  readonly network?: ((peers: Peers) => Peers) | undefined;
  /** Wraps the ledger of the effects. */
  readonly ledger?: ((ledger: Ledger) => Ledger) | undefined;
  readonly effects?: Partial<EffectsOptions> | undefined;
  /** Settings of the leagues (default: a round robin of rock-paper-scissors). */
  readonly settings?: Partial<LeagueSettings> | undefined;
}

export type TestManager = Awaited<ReturnType<typeof startManager>>;

/** Starts a manager on a file with a config of these leagues. */
export async function startManager(options: ManagerOptions, leagueIds: readonly string[]) {
  const { clock, notices, minPlayers } = options;
  const db = openSqlite(options.file, MANAGER_SCHEMA);
  const store = managerStore(db, testWriter(db));
  const loaded = await loadState(store, leagueIds);
  const followUps = leagueFollowUps(leagueSeedOf);
  const ledger = openLedger({ store, loaded, clock, leagueIds, followUps, onFatal: () => {} });
  const peers = (options.network ?? ((network) => network))(createPeers({ clock: systemClock }));
  await ledger.execute(openLeagues(leagueIds.map((leagueId) => ({ ...SETTINGS, leagueId, ...options.settings }))));
  const timeouts = Timeouts.parse({ default_ms: 2_000, ...options.timeouts });
  const effects = createEffects({
    ledger: (options.ledger ?? ((real) => real))(ledger),
    peers,
    clock,
    machineAddresses: () => new Set<string>(),
    seedOf,
    leagueSeedOf,
    endpointFor: (_referee: unknown, endpoint: string) => endpoint,
    log: options.log ?? openLog(null, "test"),
    notice: (message) => notices.push(message),
    timeouts,
    moveLimits: { ofLeague: () => timeouts.move_ms, ofPlayer: () => undefined },
    leagueStart: { places: [], startWhen: "count", onStuck: () => {}, onWaiting: () => {}, minPlayers },
    ...options.effects,
  });
  effects.start();
  return {
    ledger,
    effects,
    async stop() {
      await effects.stop();
      await ledger.settled();
      await peers.close();
      await store.close();
      db.close();
    },
  };
}
