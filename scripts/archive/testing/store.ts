import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "#shared/lib/clock.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { systemIds } from "#shared/lib/ids.ts";
import type { Command } from "#shared/session/session.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { testWriter } from "#shared/store/testing/writer.ts";
import { removePlayer } from "../../../league-manager/commands/agent-commands.ts";
import {
  announceRound,
  annulMatch,
  completeLeague,
  openLeagues,
  openRound,
  pairLeague,
  scheduleMatch,
  startLeague,
} from "../../../league-manager/commands/league-commands.ts";
import { assignMatch, releaseMatch, reportResult } from "../../../league-manager/commands/match-commands.ts";
import { player, referee, tokenOf } from "../../../league-manager/commands/testing/commands.ts";
import { matchOf } from "../../../league-manager/league/evolve.ts";
import {
  type League,
  type LeagueSettings,
  leagueSeed,
  type Match,
  roundOf,
  seedOfMatch,
} from "../../../league-manager/league/league.ts";
import { AT, forfeitBy, resultOf, SETTINGS, unplayed, WON } from "../../../league-manager/league/testing/leagues.ts";
import type { Decide, Ledger } from "../../../league-manager/ledger.ts";
import { loadState } from "../../../league-manager/store/manager-state.ts";
import { MANAGER_SCHEMA, managerStore, openRun } from "../../../league-manager/store/manager-store.ts";
import { openLedger } from "../../../league-manager/store/store-ledger.ts";

/** The seed of every run in these stores. */
export const RUN_SEED = "the seed of the run";

/** Returns the salt of a player's name in these stores. */
export const saltOf = (name: string): string => tokenOf(`salt ${name}`);

/** A manager's store that is filled by the commands of the manager. */
export interface TestRun {
  /** The file of the store. */
  readonly file: string;
  league(leagueId: string): League;
  /** Executes a command. Throws if it is rejected. */
  execute(command: Decide<unknown>): Promise<void>;
  /** Registers players with these names as P01, P02, … and a referee as REF01, and starts the leagues. */
  start(...names: readonly string[]): Promise<void>;
  /** Plays a match to its end with these commands of its session. */
  play(leagueId: string, matchId: string, commands?: readonly Command[]): Promise<void>;
  /** Aborts a match until the abort is final. The final result has the session log of the commands `last`, or no log. */
  abort(leagueId: string, matchId: string, last?: readonly Command[]): Promise<void>;
  /** Opens the current round and plays it. `commandsOf` returns the commands of each match; null leaves the match unplayed. */
  round(leagueId: string, commandsOf?: (match: Match) => readonly Command[] | null | undefined): Promise<void>;
  /** Adds a match to a round, as the operator can. */
  schedule(leagueId: string, roundId: number, players: readonly string[]): Promise<void>;
  remove(playerId: string): Promise<void>;
  /** Asks the format of a league for the next rounds. */
  pair(leagueId: string, slots?: number): Promise<void>;
  complete(leagueId: string): Promise<void>;
}

/**
 * Writes a store with leagues of rock, paper, scissors into a folder; `fill` executes the commands, and `more` replaces settings of the leagues. Resolves
 * with the file of the store.
 */
export async function writeStore(
  folder: string,
  leagueIds: readonly string[],
  fill: (run: TestRun) => Promise<void>,
  more: Partial<LeagueSettings> = {},
): Promise<string> {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "league-manager.sqlite");
  const db = openSqlite(file, MANAGER_SCHEMA);
  const store = managerStore(db, testWriter(db));
  const { runId } = await openRun(store, { seed: RUN_SEED, isOpen: false }, systemIds);
  let commits = 0;
  const ledger = openLedger({
    store,
    leagueIds,
    loaded: await loadState(store, leagueIds),
    clock: { ...systemClock, iso: () => new Date(Date.parse(AT) + commits++).toISOString() },
    onFatal: () => {},
  });
  const run = testRun(file, ledger, leagueIds);
  const settings = leagueIds.map((leagueId) => {
    return { ...SETTINGS, ...more, leagueId, runId, seedCommitment: sha256Hex(leagueSeed(RUN_SEED, leagueId)) };
  });
  await run.execute(openLeagues(settings));
  await fill(run);
  await store.close();
  db.close();
  return file;
}

function testRun(file: string, ledger: Ledger, leagueIds: readonly string[]): TestRun {
  const league = (leagueId: string): League => ledger.state.leagues.get(leagueId) as League;
  const execute: TestRun["execute"] = async (command) => {
    const decided = await ledger.execute(command);
    if (!decided.ok) throw new Error(decided.error.message);
  };
  const seedOf = (leagueId: string, { matchId, epoch }: Match): string =>
    seedOfMatch(leagueSeed(RUN_SEED, leagueId), leagueId, matchId, epoch);
  const assign = async (leagueId: string, matchId: string): Promise<Match> => {
    const { epoch } = matchOf(league(leagueId), matchId) as Match;
    await execute(assignMatch({ leagueId, matchId, epoch, refereeId: "REF01" }));
    return matchOf(league(leagueId), matchId) as Match;
  };
  const run: TestRun = {
    file,
    league,
    execute,
    async start(...names) {
      for (const [index, name] of names.entries())
        await execute(player(name, { port: 9001 + index, salt: saltOf(name) }));
      await execute(referee("referee", { port: 9000, max_concurrent_matches: 64 }));
      for (const leagueId of leagueIds) await execute(startLeague(leagueId, leagueSeed(RUN_SEED, leagueId)));
    },
    async play(leagueId, matchId, commands = WON) {
      const match = await assign(leagueId, matchId);
      const seed = seedOf(leagueId, match);
      await execute(reportResult(resultOf(league(leagueId), match, commands, seed), "REF01", seed));
    },
    async abort(leagueId, matchId, last) {
      const { epoch } = await assign(leagueId, matchId);
      await execute(releaseMatch({ leagueId, matchId, epoch, reason: "overdue", detail: "not ended in time" }));
      for (const commands of [undefined, last]) {
        const match = await assign(leagueId, matchId);
        const seed = seedOf(leagueId, match);
        const result = commands
          ? resultOf(league(leagueId), match, commands, seed)
          : unplayed(league(leagueId), match, "the referee could not play");
        await execute(reportResult(result, "REF01", seed));
      }
    },
    async round(leagueId, commandsOf = () => WON) {
      const roundId = league(leagueId).currentRound as number;
      await execute(openRound(leagueId, roundId));
      await execute(announceRound(leagueId, roundId));
      for (const match of roundOf(league(leagueId), roundId)?.matches ?? []) {
        const commands = match.status === "scheduled" ? commandsOf(match) : null;
        if (commands !== null) await run.play(leagueId, match.matchId, commands);
      }
    },
    schedule: (leagueId, roundId, players) => execute(scheduleMatch(leagueId, players, roundId)),
    remove: (playerId) => execute(removePlayer(playerId)),
    pair: (leagueId, slots = 0) => execute(pairLeague(leagueId, leagueSeed(RUN_SEED, leagueId), slots)),
    async complete(leagueId) {
      await run.pair(leagueId);
      await execute(completeLeague(leagueId));
    },
  };
  return run;
}

/** Returns the commands of a match that a player forfeits because it does not answer; the commands of a normal match if it does not play in it. */
export const lostBy = (playerId: string, { players }: Match): readonly Command[] =>
  players.includes(playerId) ? forfeitBy(`player_${players.indexOf(playerId) + 1}`) : WON;

/** Writes two completed leagues of three players in which every match was played. */
export const plainRun = (folder: string): Promise<string> =>
  writeStore(folder, ["rps", "second"], async (run) => {
    await run.start("Ann", "Bob", "Cid");
    for (const leagueId of ["rps", "second"]) {
      for (const _ of [1, 2, 3]) await run.round(leagueId);
      await run.complete(leagueId);
    }
  });

/**
 * Writes a completed league of five players. P05 does not answer in its first three matches, so that it is shut down and forfeits its last match. The
 * players entered in the order of their ids.
 */
export const timedOutRun = (folder: string): Promise<string> =>
  writeStore(folder, ["rps"], async (run) => {
    await run.start("Ann", "Bob", "Cid", "Dee", "Eve");
    for (const _ of [1, 2, 3, 4, 5]) await run.round("rps", (match) => lostBy("P05", match));
    await run.complete("rps");
  });

/** Writes a completed league of three players with an aborted match, a match that the operator added, and a forfeit of a removed player. */
export const eventfulRun = (folder: string): Promise<string> =>
  writeStore(folder, ["rps"], async (run) => {
    await run.start("Ann", "Bob", "Cid");
    await run.round("rps", () => null);
    await run.abort("rps", "R1M1");
    await run.schedule("rps", 2, ["P01", "P02"]);
    await run.round("rps");
    await run.remove("P03");
    await run.round("rps");
    await run.complete("rps");
  });

/** Writes a completed league of three players whose match R1M1 was annulled after it was completed. */
export const annulledRun = (folder: string): Promise<string> =>
  writeStore(folder, ["rps"], async (run) => {
    await run.start("Ann", "Bob", "Cid");
    await run.round("rps");
    await run.execute(annulMatch("rps", "R1M1", "played with the wrong bot"));
    for (const _ of [2, 3]) await run.round("rps");
    await run.complete("rps");
  });
