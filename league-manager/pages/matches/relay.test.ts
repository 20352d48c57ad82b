import { expect, it } from "vitest";
import { manualClock } from "#shared/lib/testing/clock.ts";
import type { EventStream } from "#shared/rpc/http/event-stream.ts";
import type { Commit } from "../../ledger.ts";
import { MatchRelay } from "./match-relay.ts";

/** A referee whose streams the test writes. */
function scriptedReferee() {
  const opened: { readonly url: string; readonly lastEventId: string | undefined; readonly stream: Pushed }[] = [];
  const waiting: (() => void)[] = [];
  return {
    opened,
    async openEventStream(
      url: string,
      { signal, lastEventId }: { signal: AbortSignal; lastEventId?: string | undefined },
    ) {
      const stream = pushed(signal);
      opened.push({ url, lastEventId, stream });
      for (const resolve of waiting.splice(0)) resolve();
      return { status: 200, events: stream.events };
    },
    /** Resolves with the nth connection. */
    async connection(number: number) {
      while (opened.length < number) await new Promise<void>((resolve) => waiting.push(resolve));
      return opened[number - 1] as (typeof opened)[number];
    },
  };
}

type Pushed = ReturnType<typeof pushed>;
function pushed(signal: AbortSignal) {
  const body = new ReadableStream<{ event: string; data: string; id: string } | null>({
    start(controller) {
      signal.addEventListener("abort", () => controller.error(new Error("aborted")));
      Object.assign(result, {
        push: (id: string, view: unknown) =>
          controller.enqueue({ event: "match", data: typeof view === "string" ? view : JSON.stringify(view), id }),
        end: () => controller.close(),
      });
    },
  });
  return { ...result, events: body as unknown as EventStream["events"], signal };
}
const result = {} as { push(id: string, view: unknown): void; end(): void };

const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
const AFTER_E4 = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";
const view = (tick: number, more: object = {}) => ({
  game_id: "s1",
  template: "chess.v1",
  status: "active",
  tick,
  to_act: ["white"],
  board: "text",
  result: null,
  state: { fen: tick === 0 ? START : AFTER_E4, turn: "white", outcome: null },
  last_turn: tick === 0 ? [] : [{ role: "white", action: "e2e4", tick: 0 }],
  ...more,
});

const OTHERS = 100;

/** A relay for the match R1M1 of a league, whose referee and attempt the test changes. `others` are the matches R1M2 to R1M101. */
function relayed(maxCharacters?: number) {
  const referee = scriptedReferee();
  const clock = manualClock();
  const listeners = new Set<(commit: Commit) => void>();
  const match = { matchId: "R1M1", status: "assigned", epoch: 1, refereeId: "REF01" };
  const others = Array.from({ length: OTHERS }, (_, index) => ({ ...match, matchId: `R1M${index + 2}` }));
  const state = {
    leagues: new Map([["class", { rounds: [{ matches: [match, ...others] }] }]]),
    agents: new Map(["REF01", "REF02"].map((id) => [id, { endpoint: `http://${id}:1/mcp` }])),
  };
  const ledger = {
    state,
    onCommit(listener: (commit: Commit) => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  } as never;
  const relay = new MatchRelay({
    ledger,
    openEventStream: referee.openEventStream,
    clock,
    ...(maxCharacters && { maxCharacters }),
  });
  return {
    relay,
    referee,
    clock,
    listeners,
    match,
    others,
    commit: () => {
      for (const listener of listeners) listener({} as Commit);
    },
  };
}

/** Follows the match. `until` resolves when the relayed match satisfies a condition. */
function follow(relay: MatchRelay, matchId = "R1M1") {
  let wake = (): void => {};
  const stop = relay.watch("class", matchId, () => wake());
  const read = () => relay.read("class", matchId);
  return {
    stop,
    read,
    async until(isTrue: (match: ReturnType<typeof read>) => boolean) {
      while (!isTrue(read())) await new Promise<void>((resolve) => (wake = resolve));
      return read();
    },
  };
}

it("all readers of a match share one connection, which ends with the last reader", async () => {
  const { relay, referee, listeners } = relayed();
  const [first, second] = [follow(relay), follow(relay)];
  const { url, stream } = await referee.connection(1);
  expect(url).toBe("http://REF01:1/api/matches/class/R1M1/events");
  stream.push("0", view(0));
  stream.push("1", view(1));
  const { frames, state } = await second.until((match) => match.frames.length === 2);
  expect(state).toBe("live");
  expect(frames[1]?.moves).toEqual([{ role: "white", text: "e4" }]);
  first.stop();
  expect(stream.signal.aborted).toBe(false);
  second.stop();
  expect(stream.signal.aborted).toBe(true);
  expect([relay.count(), listeners.size, referee.opened.length]).toEqual([0, 0, 1]);
});

it("the time since the start of the turn goes on from the time that the referee names", async () => {
  const { relay, referee, clock } = relayed();
  const reader = follow(relay);
  const { stream } = await referee.connection(1);
  const clocks = { initial_ms: 60_000, increment_ms: 0, remaining_ms: { white: 60_000, black: 60_000 } };
  stream.push("0", view(0, { clock: { ...clocks, elapsed_ms: 5_000 } }));
  const { frames } = await reader.until((match) => match.frames.length === 1);
  expect(frames[0]?.clock).toEqual(clocks);
  await clock.advance(2_000);
  expect(reader.read().elapsedMs).toBe(7_000);
  reader.stop();
});

it("a lost connection continues after the last event, and a repeated frame is not added twice", async () => {
  const { relay, referee, clock } = relayed();
  const reader = follow(relay);
  const first = await referee.connection(1);
  first.stream.push("0", view(0));
  first.stream.push("1", view(1));
  await reader.until((match) => match.frames.length === 2);
  first.stream.end();
  const waiting = referee.connection(2);
  while (referee.opened.length < 2) {
    await new Promise(setImmediate);
    await clock.advance(100);
  }
  const second = await waiting;
  expect([second.lastEventId, new URL(second.url).search]).toEqual(["1", "?session=s1"]);
  const end = { winners: ["white"], winner: "white", reason: "timeout", termination: "forfeit" };
  second.stream.push("2", view(1, { status: "completed", result: end }));
  const { frames } = await reader.until((match) => match.frames.at(-1)?.status === "completed");
  expect(frames.map(({ tick, status }) => [tick, status])).toEqual([
    [0, "active"],
    [1, "completed"],
  ]);
  reader.stop();
});

it("a match that another referee begins again has only the frames of the new session", async () => {
  const { relay, referee, match, commit } = relayed();
  const reader = follow(relay);
  const first = await referee.connection(1);
  first.stream.push("0", view(0));
  first.stream.push("1", view(1));
  await reader.until((one) => one.frames.length === 2);
  Object.assign(match, { epoch: 2, refereeId: "REF02" });
  commit();
  const second = await referee.connection(2);
  expect(first.stream.signal.aborted).toBe(true);
  expect(second.url).toContain("http://REF02:1/");
  second.stream.push("0", view(0, { game_id: "s2" }));
  const { session, frames } = await reader.until((one) => one.session === "s2");
  expect([session, frames.length]).toEqual(["s2", 1]);
  reader.stop();
});

it.each([
  ["no JSON", "<html>"],
  ["no view", { game_id: "s1" }],
  ["an impossible move", view(1, { last_turn: [{ role: "white", action: "e2e5", tick: 0 }] })],
])("after %s the next connection begins with the first frame", async (_, fault) => {
  const { relay, referee, clock } = relayed();
  const reader = follow(relay);
  const first = await referee.connection(1);
  first.stream.push("0", view(0));
  first.stream.push("1", fault);
  await reader.until(({ state }) => state === "lost");
  expect(reader.read().frames).toHaveLength(1);
  while (referee.opened.length < 2) {
    await new Promise(setImmediate);
    await clock.advance(100);
  }
  expect(referee.opened[1]?.lastEventId).toBe(undefined);
  reader.stop();
});

it("the reason of an abort is not relayed, because it may quote addresses", async () => {
  const { relay, referee } = relayed();
  const reader = follow(relay);
  const { stream } = await referee.connection(1);
  const aborted = { winners: [], winner: null, reason: "http://10.0.0.1 failed", termination: "aborted" };
  stream.push("1", view(0, { status: "completed", result: aborted }));
  const { frames } = await reader.until((match) => match.frames.length === 1);
  expect(JSON.stringify(frames)).not.toContain("10.0.0.1");
  reader.stop();
});

it("a match that is only read is followed for some seconds", async () => {
  const { relay, referee, clock } = relayed();
  expect(relay.read("class", "R1M1").state).toBe("connecting");
  const { stream } = await referee.connection(1);
  await clock.advance(4_000);
  relay.read("class", "R1M1");
  await clock.advance(4_000);
  expect(stream.signal.aborted).toBe(false);
  await clock.advance(2_000);
  expect(stream.signal.aborted).toBe(true);
  expect(relay.count()).toBe(0);
});

it("pages of matches that are not being played take no connection from others", async () => {
  const { relay, referee, others, commit } = relayed();
  for (const { matchId } of others) relay.watch("class", matchId, () => {});
  await referee.connection(OTHERS);
  const reader = follow(relay);
  await reader.until(({ state }) => state === "limit");
  Object.assign(others[0] as object, { status: "completed" });
  commit();
  const { url } = await referee.connection(OTHERS + 1);
  expect(url).toContain("/R1M1/");
  expect(referee.opened[0]?.stream.signal.aborted).toBe(true);
  relay.close();
});

it("a match without a connection is connected when another one has lost its last reader", async () => {
  const { relay, referee, others } = relayed();
  const [stop] = others.map(({ matchId }) => relay.watch("class", matchId, () => {}));
  await referee.connection(OTHERS);
  const reader = follow(relay);
  await reader.until(({ state }) => state === "limit");
  stop?.();
  const { stream } = await referee.connection(OTHERS + 1);
  stream.push("0", view(0));
  await reader.until(({ state, frames }) => state === "live" && frames.length === 1);
  relay.close();
});

it("a completed match keeps neither frames nor connection nor timers, and is not asked for again", async () => {
  const { relay, referee, clock, match, commit } = relayed();
  const reader = follow(relay);
  const { stream } = await referee.connection(1);
  stream.push("0", view(0));
  await reader.until(({ frames }) => frames.length === 1);
  Object.assign(match, { status: "completed" });
  commit();
  await new Promise(setImmediate);
  expect(stream.signal.aborted).toBe(true);
  expect([clock.timers(), relay.read("class", "R1M1").frames.length]).toEqual([0, 0]);
  await clock.advance(10_000);
  expect(referee.opened).toHaveLength(1);
  reader.stop();
});

it("the views of a match take a limited amount of memory", async () => {
  const { relay, referee } = relayed();
  const reader = follow(relay);
  const { stream } = await referee.connection(1);
  const padding = "x".repeat(900_000);
  for (let tick = 0; tick < 30; tick++) stream.push(`${tick}`, view(tick, { last_turn: [], padding }));
  const { frames } = await reader.until(({ state }) => state === "large");
  expect(frames.length).toBe(22);
  reader.stop();
});

it("the views of all matches take a limited amount of memory: matches without readers are dropped first", async () => {
  const { relay, referee } = relayed(2_000);
  const padding = "x".repeat(700);
  relay.read("class", "R1M2");
  const unwatched = await referee.connection(1);
  unwatched.stream.push("0", view(0, { padding }));
  const [large, small] = [follow(relay, "R1M3"), follow(relay, "R1M4")];
  const [first, second] = [await referee.connection(2), await referee.connection(3)];
  first.stream.push("0", view(0, { padding }));
  await large.until(({ frames }) => frames.length === 1);
  expect(relay.read("class", "R1M2").frames).toHaveLength(1);
  second.stream.push("0", view(0));
  second.stream.push("1", view(1));
  await small.until(({ frames }) => frames.length === 2);
  expect(unwatched.stream.signal.aborted).toBe(true);
  expect([relay.read("class", "R1M2").frames, large.read().frames.length]).toEqual([[], 1]);

  first.stream.push("1", view(1, { padding }));
  await large.until(({ state }) => state === "limit");
  expect(large.read().frames).toEqual([]);
  expect(small.read()).toMatchObject({ state: "live", frames: { length: 2 } });
  expect(referee.opened).toHaveLength(3);
  relay.close();
});
