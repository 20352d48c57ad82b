import { join } from "node:path";
import { sha256Hex } from "#shared/lib/hash.ts";
import { type Ids, playerId, refereeId } from "#shared/lib/ids.ts";
import { invariant, messageOf } from "#shared/lib/result.ts";
import { NATIVE } from "#shared/protocol/dialects/dialect.ts";
import { ANY_GAME, type MatchResult, type StartGame } from "#shared/protocol/messages.ts";
import { readingStore } from "#shared/runtime/files/store-file.ts";
import { StartError } from "#shared/runtime/process/exit.ts";
import { StoreUnwritable } from "#shared/store/store-errors.ts";
import {
  type Agent,
  type AgentKind,
  type Capabilities,
  nameCommitment,
  type Profile,
} from "../../../league-manager/agents/registered-agent.ts";
import { Draft } from "../../../league-manager/commands/draft.ts";
import {
  completeLeague,
  openLeagues,
  pairLeague,
  startLeague,
} from "../../../league-manager/commands/league-commands.ts";
import { assignMatch, recordResult, reportResult } from "../../../league-manager/commands/match-commands.ts";
import { startGameOf } from "../../../league-manager/effects/dispatch/start-game-message.ts";
import { type League, leagueSeed, type Match, seedOfMatch } from "../../../league-manager/league/league.ts";
import { advanceWork, type OpenWork, openWork } from "../../../league-manager/league/open-work.ts";
import type { Decide, Ledger } from "../../../league-manager/ledger.ts";
import { leagueSettings, moveLimits } from "../../../league-manager/manager-options.ts";
import { loadState } from "../../../league-manager/store/manager-state.ts";
import { MANAGER_SCHEMA, managerStore, openRun } from "../../../league-manager/store/manager-store.ts";
import { keepSnapshots } from "../../../league-manager/store/snapshots.ts";
import { openLedger } from "../../../league-manager/store/store-ledger.ts";
import type { RunFolder } from "../../run/run-folder.ts";
import type { MatchSystem } from "../setup.ts";

/** The league of local matches: the store and the decisions of a league manager, and one referee, which is this process. */
export interface LocalLeague {
  readonly league: League;
  /** Pairs further games if the format has any. `slots` is the number of games that can be started now. */
  pair(slots: number): Promise<void>;
  /** The ids of the games that are paired and not assigned. */
  unassigned(): readonly string[];
  /** The ids of the games that were assigned when the run was interrupted. */
  assigned(): readonly string[];
  /** Assigns games. Resolves when this is on disk. */
  assign(matchIds: readonly string[]): Promise<void>;
  /** The order of a game that is assigned; null if it was cancelled in the meantime. Its seats have no endpoints. */
  orderOf(matchId: string): StartGame | null;
  /** Records the result of a game, unless it was cancelled. Resolves when it is on disk. */
  record(result: MatchResult): Promise<void>;
  /** Ends the league if all its games are completed. */
  complete(): Promise<void>;
  /** Waits for all writes and closes the store. */
  close(): Promise<void>;
}

const REFEREE = refereeId(1);

/**
 * Opens the league of a run: a new one, or one that was interrupted. `hashOf` returns the hash of a player's bot. Rejects with StartError if the store
 * cannot be opened.
 */
export function openLocalLeague(
  folder: RunFolder,
  system: MatchSystem,
  hashOf: (playerId: string) => string | null,
  onFatal: (error: Error) => void,
): Promise<LocalLeague> {
  const file = join(folder.path, "league-manager.sqlite");
  return readingStore(file, () => openedLeague(file, folder, system, { hashOf, onFatal }));
}

interface LocalLeagueOptions {
  readonly hashOf: (playerId: string) => string | null;
  readonly onFatal: (error: Error) => void;
}

async function openedLeague(
  file: string,
  folder: RunFolder,
  { clock, ids, disk }: MatchSystem,
  { hashOf, onFatal }: LocalLeagueOptions,
): Promise<LocalLeague> {
  const { config } = folder;
  const leagueId = config.leagues[0]?.league_id ?? "";
  const onBroken = (error: Error): void => onFatal(new StartError(`cannot write to ${file}: ${error.message}`));
  const opened = disk.openStore(file, MANAGER_SCHEMA, { isWrittenByThread: true, onBroken });
  const store = managerStore(opened.db, opened.writer, onBroken);
  const run = await openRun(store, { seed: folder.seed, isOpen: false }, ids);
  const seed = leagueSeed(run.seed, leagueId);
  const loaded = await loadState(store, [leagueId]);
  // The command ends if it cannot write, because no other program repeats its commands.
  const commit: typeof store.commit = (...changes) =>
    store.commit(...changes).catch((thrown) => {
      throw thrown instanceof StoreUnwritable ? new Error(thrown.message) : thrown;
    });
  const ledger = openLedger({ store: { commit }, loaded, clock, leagueIds: [leagueId], onFatal: onBroken });
  const onError = (thrown: unknown): void => onBroken(new Error(messageOf(thrown)));
  const snapshots = keepSnapshots({ ledger, store, written: loaded.snapshots, clock, onError });
  const execute = executor(ledger);
  await execute(openLeagues(leagueSettings(config, run)));
  await execute(
    enterAgents(
      leagueId,
      ids,
      config.players.map(({ name }, index) => ({ name, botHash: hashOf(playerId(index + 1)) })),
    ),
  );
  const current = (): League => leagueIn(ledger, leagueId);
  if (current().status === "open") await execute(startLeague(leagueId, seed));
  const work = followedWork(ledger, leagueId);
  const context = {
    seedOf: (_: League, { matchId, epoch }: Match) => seedOfMatch(seed, leagueId, matchId, epoch),
    timeouts: config.timeouts,
    moveLimits: moveLimits(config),
    endpointFor: () => "",
  };
  return {
    get league() {
      return current();
    },
    pair: (slots) => execute(pairLeague(leagueId, seed, slots)),
    unassigned: () => [...work().unassigned.keys()],
    assigned: () => [...work().assigned.keys()],
    async assign(matchIds) {
      const { unassigned } = work();
      const matches = matchIds.flatMap((id) => unassigned.get(id) ?? []);
      await Promise.all(
        matches.map(({ matchId, epoch }) => execute(assignMatch({ leagueId, matchId, epoch, refereeId: REFEREE }))),
      );
    },
    orderOf(matchId) {
      const match = work().assigned.get(matchId);
      const referee = ledger.state.agents.get(REFEREE);
      return match && referee ? startGameOf(ledger.state, current(), match, referee, context) : null;
    },
    async record(result) {
      const matchSeed = seedOfMatch(seed, leagueId, result.match_id, result.epoch);
      // The result of a game that failed is decided as that of a referee: the game is played again, at most twice.
      const record = result.termination === "aborted" ? reportResult : recordResult;
      await ledger.execute(record(result, REFEREE, matchSeed));
    },
    async complete() {
      if (work().isToComplete) await execute(completeLeague(leagueId));
    },
    async close() {
      await ledger.settled();
      await snapshots.stop();
      await opened.close();
    },
  };
}

/** Returns a function that executes a command that the league must accept. A rejection is a bug and throws. */
const executor =
  (ledger: Ledger) =>
  async (decide: Decide<unknown>): Promise<void> => {
    const decided = await ledger.execute(decide);
    invariant(decided.ok, `the local league accepts its commands${decided.ok ? "" : `: ${decided.error.message}`}`);
  };

function leagueIn(ledger: Ledger, leagueId: string): League {
  const league = ledger.state.leagues.get(leagueId);
  invariant(league, `league ${leagueId} is opened`);
  return league;
}

/** Returns a function that returns the open work of the league, which each commit updates. */
function followedWork(ledger: Ledger, leagueId: string): () => OpenWork {
  let work = openWork(leagueIn(ledger, leagueId));
  ledger.onCommit(({ events }) => {
    for (const event of events) {
      if (event.kind === "league") work = advanceWork(work, leagueIn(ledger, leagueId), event.event);
    }
  });
  return () => work;
}

/** Registers the referee and the players of a run and enters the players, unless that was done before. Player ids follow the order of the config. */
const enterAgents =
  (leagueId: string, ids: Ids, players: readonly Pick<Agent, "name" | "botHash">[]): Decide<null> =>
  (state, at) => {
    const draft = new Draft(state, at);
    if (state.agents.size > 0) return draft.decision(null);
    const register = (agentId: string, kind: AgentKind, name: string, more: Partial<Capabilities>): Profile => {
      const profile = { name, salt: ids.token(), endpoint: "", tokenHash: sha256Hex(ids.token()) };
      const capabilities = { ...CAPABILITIES, ...more };
      draft.agent(agentId, { type: "register", agentId, kind, capabilities, profile }, profile);
      return profile;
    };
    register(REFEREE, "referee", "local", { maxConcurrent: 1_000 });
    for (const [index, { name, botHash }] of players.entries()) {
      const id = playerId(index + 1);
      const profile = register(id, "player", name, { botHash });
      draft.mustLeague(leagueId, { type: "enter", playerId: id, nameCommitment: nameCommitment(profile) });
    }
    return draft.decision(null);
  };

const CAPABILITIES: Capabilities = {
  gameTypes: [ANY_GAME],
  wantsLegalActions: false,
  wantsRoundResults: false,
  wantsAnnouncements: false,
  maxConcurrent: 0,
  dialect: NATIVE,
  wantsDeltaViews: false,
  offersWebSocket: false,
  hasPages: false,
  isPlayedByHand: false,
  botHash: null,
};
