import { expect, test } from "vitest";
import { ok } from "#shared/lib/result.ts";
import { manualClock } from "#shared/lib/testing/clock.ts";
import type { Agent } from "../agents/registered-agent.ts";
import { afterCommands, running } from "../league/testing/leagues.ts";
import { type Announcement, AnnouncementQueues } from "./announcement-queues.ts";
import type { EffectsContext } from "./effects-context.ts";

const { league } = afterCommands(running(["P01", "P02"]));
const announcement = (type: Announcement["type"]): Announcement => ({ type, leagueId: "rps", roundId: 1 });
const ROUND = (["ROUND_END", "LEAGUE_STANDINGS_UPDATE", "ROUND_ANNOUNCEMENT", "ROUND_START"] as const).map(
  announcement,
);

/** The queues of announcements with the player P01, which answers each message after `answerMs`. */
function queueOf({ answerMs, ready = async () => {} }: { answerMs: number; ready?: () => Promise<void> }) {
  const clock = manualClock();
  const sent: string[] = [];
  const player = {
    id: "P01",
    kind: "player",
    endpoint: "http://127.0.0.1:1/mcp",
    tokenHash: "hash",
    dialect: "native",
  };
  const state = { leagues: new Map([["rps", league]]), agents: new Map([["P01", player as Agent]]) };
  const peers = {
    async notify(_endpoint: string, { type }: { type: string }, { signal }: { signal: AbortSignal }) {
      sent.push(type);
      await clock.pause(answerMs, signal);
      return ok(null);
    },
  };
  const context = { ledger: { state }, peers, clock, timeouts: { default_ms: 60_000 } };
  const queues = new AnnouncementQueues(context as unknown as EffectsContext, ready);
  /** Queues announcements; `isOver` is true when `received` has resolved. */
  const push = (announcements: readonly Announcement[]) => {
    const received = { isOver: false };
    void queues.push("P01", announcements).received.then(() => {
      received.isOver = true;
    });
    return received;
  };
  return { clock, sent, queues, push };
}

test("an invitation waits for four messages that are answered after 249 ms each", async () => {
  const { clock, sent, push } = queueOf({ answerMs: 249 });
  const received = push(ROUND);
  await clock.advance(4 * 249 - 1);
  expect(received.isOver).toBe(false);
  await clock.advance(1);
  expect(received.isOver).toBe(true);
  expect(sent).toEqual(ROUND.map(({ type }) => type));
});

test("an invitation waits at most 250 ms for an answer, and the messages are still sent one after the other", async () => {
  const { clock, sent, push } = queueOf({ answerMs: 1_000 });
  const received = push(ROUND);
  await clock.advance(249);
  expect(received.isOver).toBe(false);
  await clock.advance(1);
  expect(received.isOver).toBe(true);
  await clock.advance(3_000);
  expect(sent).toEqual(ROUND.map(({ type }) => type));
});

test("an invitation waits until the last answer if the agent answers in time", async () => {
  const { clock, push } = queueOf({ answerMs: 50 });
  const received = push(ROUND);
  await clock.advance(199);
  expect(received.isOver).toBe(false);
  await clock.advance(1);
  expect(received.isOver).toBe(true);
  expect(clock.timers()).toBe(0);
});

test("the time limit of an invitation begins when its messages are queued, even behind those of another round", async () => {
  const { clock, push } = queueOf({ answerMs: 10_000 });
  const first = push(ROUND);
  await clock.advance(200);
  const second = push(ROUND);
  await clock.advance(50);
  expect([first.isOver, second.isOver]).toEqual([true, false]);
  await clock.advance(199);
  expect(second.isOver).toBe(false);
  await clock.advance(1);
  expect(second.isOver).toBe(true);
});

test("the time limit of an invitation to an agent that does not listen yet begins when it listens", async () => {
  const listening = Promise.withResolvers<void>();
  const { clock, sent, push } = queueOf({ answerMs: 300, ready: () => listening.promise });
  const received = push(ROUND);
  await clock.advance(5_000);
  expect(sent).toEqual([]);
  listening.resolve();
  await clock.advance(249);
  expect(received.isOver).toBe(false);
  await clock.advance(1);
  expect(received.isOver).toBe(true);
});

test("at most 100 announcements are queued for an agent, and further ones are dropped", async () => {
  const { clock, sent, push } = queueOf({ answerMs: 1 });
  push([announcement("ROUND_END")]);
  await clock.nextTurn();
  expect(sent).toEqual(["ROUND_END"]);
  const received = push(Array.from({ length: 150 }, () => announcement("ROUND_START")));
  const dropped = push([announcement("ROUND_ANNOUNCEMENT")]);
  await clock.nextTurn();
  expect([received.isOver, dropped.isOver]).toEqual([false, true]);
  await clock.advance(1_000);
  expect(sent.filter((type) => type === "ROUND_START")).toHaveLength(100);
  expect(sent).not.toContain("ROUND_ANNOUNCEMENT");
  expect(received.isOver).toBe(true);
});

test("stopped queues send no messages and resolve all invitations", async () => {
  const { clock, sent, queues, push } = queueOf({ answerMs: 10_000 });
  const received = push(ROUND);
  await clock.nextTurn();
  await queues.stop();
  expect([received.isOver, clock.timers()]).toEqual([true, 0]);
  await clock.advance(20_000);
  expect(sent).toEqual(["ROUND_END"]);
});
