import { expect, test } from "vitest";
import { err } from "#shared/lib/result.ts";
import type { Envelope } from "#shared/protocol/envelope.ts";
import { protocolError } from "#shared/protocol/errors.ts";
import type { Peers } from "#shared/rpc/peer/peer.ts";
import type { Ledger } from "../ledger.ts";
import { aborted, played } from "../testing/results.ts";
import { startTestLeague, type TestLeague } from "./testing/league.ts";

const KILLED = err(protocolError("L005", "the process was killed"));
const CONNECTION_REFUSED = err({ cause: "refused", detail: "the process was killed" } as const);

/**
 * Simulates a process that is killed after `remainingEffects` effects. An effect is a message that is sent or a command that is executed. After the
 * kill no message is sent, and no command reaches the ledger.
 */
function killableProcess() {
  const process = { remainingEffects: Number.POSITIVE_INFINITY, effects: 0 };
  const isAlive = (): boolean => {
    process.effects++;
    return process.remainingEffects-- > 0;
  };
  const network = (peers: Peers): Peers => ({
    ...peers,
    message: async (...call) => (isAlive() ? peers.message(...call) : CONNECTION_REFUSED),
    notify: async (...call) => (isAlive() ? peers.notify(...call) : CONNECTION_REFUSED),
  });
  const ledger = (real: Ledger): Ledger => ({
    get state() {
      return real.state;
    },
    execute: async (decide) => (isAlive() ? real.execute(decide) : KILLED),
    onCommit: (listener) => real.onCommit(listener),
    settled: () => real.settled(),
  });
  return { process, network, ledger };
}

/** The subject of a message. Messages with the same subject must have the same id. */
function subjectOf({ type, payload }: Envelope, recipient: string): string {
  const { league_id, round_id, match_id, epoch } = payload;
  return JSON.stringify([type, league_id, match_id ?? round_id, epoch, recipient]);
}

const AGENTS = ["P01", "P02", "P03", "REF01", "REF02"];

/** Plays a league of three players to its end, with a restart and one aborted match. Resolves with the ids of the messages by subject. */
async function playWithRestart(killAfter: number) {
  const killable = killableProcess();
  const ids = new Map<string, Set<string>>();
  const league = await startTestLeague({ players: 3, referees: 2, network: killable.network, ledger: killable.ledger });
  const collect = (): void => {
    for (const id of AGENTS) {
      for (const envelope of league.agent(id).received) {
        const subject = subjectOf(envelope, id);
        ids.set(subject, (ids.get(subject) ?? new Set()).add(envelope.message_id));
      }
    }
  };
  killable.process.remainingEffects = killAfter;
  await league.eventually(
    () => {
      if (!isOver(league) && killable.process.remainingEffects > 0) throw new Error("the league is running");
    },
    () => reportAll(league),
  );
  collect();
  killable.process.remainingEffects = Number.POSITIVE_INFINITY;
  await league.restart();
  await league.eventually(
    () => expect(isOver(league)).toBe(true),
    () => reportAll(league),
  );
  collect();
  return { league, ids, effects: killable.process.effects };
}

const isOver = (league: TestLeague): boolean => league.league().status === "completed";

/** Reports a result for each START_GAME that a referee has received. */
async function reportAll(league: TestLeague): Promise<void> {
  for (const refereeId of ["REF01", "REF02"]) {
    for (const order of league.agent(refereeId).orders()) {
      const isFirstAttempt = order.match_id === "R1M1" && order.epoch === 1;
      await league.report(refereeId, isFirstAttempt ? aborted(order) : played(order));
    }
  }
}

test("a league continues after a kill between any two effects and repeats messages with the same ids", async () => {
  const withoutKill = await playWithRestart(Number.POSITIVE_INFINITY);
  const subjects = [...withoutKill.ids.keys()].sort();
  const effectCount = withoutKill.effects;
  expect(effectCount).toBeGreaterThan(30);
  for (let killAfter = 1; killAfter < effectCount; killAfter++) {
    const { league, ids } = await playWithRestart(killAfter);
    expect(league.notices, `killed after ${killAfter}`).toEqual([]);
    for (const [subject, messageIds] of ids)
      expect([...messageIds], `killed after ${killAfter}: ${subject}`).toHaveLength(1);
    const orders = [...ids.keys()].filter((subject) => subject.startsWith('["START_GAME"'));
    expect(orders.length, `killed after ${killAfter}`).toBeGreaterThanOrEqual(4);
    expect(league.league().rounds.flatMap(({ matches }) => matches)).toMatchObject(
      [1, 2, 3].map(() => ({ outcome: { termination: "normal" } })),
    );
    expect(subjects).toEqual(expect.arrayContaining([...ids.keys()].filter((subject) => !subject.includes("GAME"))));
  }
});
