import { expect, test } from "vitest";
import { err } from "#shared/lib/result.ts";
import type { Envelope } from "#shared/protocol/envelope.ts";
import { protocolError } from "#shared/protocol/errors.ts";
import type { Peers } from "#shared/rpc/peer/peer.ts";
import type { Ledger } from "../ledger.ts";
import { aborted, played } from "../testing/results.ts";
import { startTestLeague, type TestLeague } from "./testing/league.ts";

const KILLED = err(protocolError("L005", "the process was killed"));
const GONE = err({ cause: "refused", detail: "the process was killed" } as const);

/**
 * A process that is killed after so many effects. An effect is a message that is sent or a command that is executed. After the kill no message
 * is sent, and no command reaches the ledger.
 */
function dyingProcess() {
  const process = { effectsLeft: Number.POSITIVE_INFINITY, effects: 0 };
  const isAlive = (): boolean => {
    process.effects++;
    return process.effectsLeft-- > 0;
  };
  const network = (peers: Peers): Peers => ({
    ...peers,
    message: async (...call) => (isAlive() ? peers.message(...call) : GONE),
    notify: async (...call) => (isAlive() ? peers.notify(...call) : GONE),
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

/** The subject of a message. Messages with the same subject must have the same id, others another id. */
function subjectOf({ type, payload }: Envelope, recipient: string): string {
  const { league_id, round_id, match_id, epoch } = payload;
  return JSON.stringify([type, league_id, match_id ?? round_id, epoch, recipient]);
}

const AGENTS = ["P01", "P02", "P03", "REF01", "REF02"];

/** Plays a league of three players to its end; the first match is aborted once. Returns the id of each message, by its subject. */
async function playToTheEnd(killAfter: number) {
  const dying = dyingProcess();
  const ids = new Map<string, Set<string>>();
  const league = await startTestLeague({ players: 3, referees: 2, network: dying.network, ledger: dying.ledger });
  const collect = (): void => {
    for (const id of AGENTS) {
      for (const envelope of league.agent(id).received) {
        const subject = subjectOf(envelope, id);
        ids.set(subject, (ids.get(subject) ?? new Set()).add(envelope.message_id));
      }
    }
  };
  dying.process.effectsLeft = killAfter;
  await league.eventually(
    () => {
      if (!isOver(league) && dying.process.effectsLeft > 0) throw new Error("under way");
    },
    () => reportAll(league),
  );
  collect();
  dying.process.effectsLeft = Number.POSITIVE_INFINITY;
  await league.restart();
  await league.eventually(
    () => expect(isOver(league)).toBe(true),
    () => reportAll(league),
  );
  collect();
  return { league, ids, effects: dying.process.effects };
}

const isOver = (league: TestLeague): boolean => league.league().status === "completed";

/** Reports a result for each match that a referee has accepted. */
async function reportAll(league: TestLeague): Promise<void> {
  for (const refereeId of ["REF01", "REF02"]) {
    for (const order of league.agent(refereeId).orders()) {
      const isFirst = order.match_id === "R1M1" && order.epoch === 1;
      await league.report(refereeId, isFirst ? aborted(order) : played(order));
    }
  }
}

test("a league continues after a kill between any two effects, and repeated messages have the same ids", async () => {
  const undisturbed = await playToTheEnd(Number.POSITIVE_INFINITY);
  const subjects = [...undisturbed.ids.keys()].sort();
  const all = undisturbed.effects;
  expect(all).toBeGreaterThan(30);
  for (let killAfter = 1; killAfter < all; killAfter++) {
    const { league, ids } = await playToTheEnd(killAfter);
    expect(league.notices, `killed after ${killAfter}`).toEqual([]);
    for (const [subject, own] of ids) expect([...own], `killed after ${killAfter}: ${subject}`).toHaveLength(1);
    const orders = [...ids.keys()].filter((subject) => subject.startsWith('["START_GAME"'));
    expect(orders.length, `killed after ${killAfter}`).toBeGreaterThanOrEqual(4);
    expect(league.league().rounds.flatMap(({ matches }) => matches)).toMatchObject(
      [1, 2, 3].map(() => ({ outcome: { termination: "normal" } })),
    );
    expect(subjects).toEqual(expect.arrayContaining([...ids.keys()].filter((subject) => !subject.includes("GAME"))));
  }
}, 120_000);
