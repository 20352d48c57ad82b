import { rps } from "#shared/games/rps.ts";
import { systemClock } from "#shared/lib/clock.ts";
import { systemIds } from "#shared/lib/ids.ts";
import type { TimeControl } from "#shared/lib/time-control.ts";
import { createPeers } from "#shared/rpc/peer/peer.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { testWriter } from "#shared/store/testing/writer.ts";
import { createHost, sessionOf } from "../../sessions/host.ts";
import { SESSION_SCHEMA, sessionStore } from "../../sessions/session-store.ts";
import { type Answers, startTestLeague, testDriver } from "../../testing/match.ts";
import { type DrivenMatch, KnownHistory, MatchAnswerTimes, seatedPlayers, seatsOf } from "../play-match.ts";

interface TestMatchOptions {
  readonly answers?: Answers;
  /** The options of rock-paper-scissors. */
  readonly options?: object;
  readonly clock?: TimeControl;
  readonly moveMs: number;
}

/** Starts players and creates a match of rock-paper-scissors between them, with the session in memory. No player has been called. */
export async function startTestMatch({ answers, options = {}, clock, moveMs }: TestMatchOptions) {
  const league = await startTestLeague(answers);
  const peers = createPeers({ clock: systemClock });
  const order = league.order({ timeouts: { join_ms: 5_000, move_ms: moveMs, game_over_ms: 5_000 } });
  const db = openSqlite(":memory:", SESSION_SCHEMA);
  const host = createHost(sessionStore(db, testWriter(db)), systemClock, systemIds);
  const setup = { game: rps as never, options: rps.options.parse(options), seed: order.seed, seats: seatsOf(order) };
  const { id } = await host.create({ ...setup, ...(clock && { clock }) });
  const driver = testDriver(host, peers);
  const { signal } = new AbortController();
  const match: DrivenMatch = {
    order,
    game: sessionOf(driver, id).game,
    options: setup.options,
    players: seatedPlayers(driver, order, id, signal),
    listeners: [],
    signal,
    closedRounds: 0,
    answerTimes: new MatchAnswerTimes(),
    knownHistory: new KnownHistory(),
  };
  return {
    league,
    host,
    driver,
    match,
    sessionId: id,
    async close(): Promise<void> {
      await peers.close();
      league.close();
    },
  };
}
