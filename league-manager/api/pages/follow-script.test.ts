import { createContext, runInContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { FOLLOW_SCRIPT } from "./follow-script.ts";

interface Section {
  readonly dataset: { readonly league: string; readonly version: string; readonly status: string };
}
const section = (league: string, version: number, status = "active"): Section => ({
  dataset: { league, version: String(version), status },
});

/** Runs the script in a document with these sections. The test controls the clock and the server. */
function openPage(...leagues: readonly Section[]) {
  let now = 0;
  const timers: { readonly at: number; readonly run: () => unknown }[] = [];
  const sources: FakeSource[] = [];
  const loads: number[] = [];
  const server: { status: number; leagues: readonly Section[] | null } = { status: 200, leagues };
  let shown = leagues;
  class FakeSource {
    static readonly CLOSED = 2;
    readyState = 1;
    readonly url: string;
    readonly #listeners = new Map<string, (event: object) => void>();
    constructor(url: string) {
      this.url = url;
      sources.push(this);
    }
    addEventListener(type: string, listener: (event: object) => void): void {
      this.#listeners.set(type, listener);
    }
    emit(type: string, version: number): void {
      this.#listeners.get(type)?.({ type, lastEventId: String(version) });
    }
    open(): void {
      this.readyState = 1;
      this.#listeners.get("open")?.({ type: "open" });
    }
    /** Fails like a browser: CLOSED after a status other than 200, CONNECTING after a lost connection. */
    fail(readyState: number): void {
      this.readyState = readyState;
      this.#listeners.get("error")?.({ type: "error" });
    }
    close(): void {
      this.readyState = FakeSource.CLOSED;
    }
  }
  const connection = { hidden: true };
  const main = {
    replaceWith(next: readonly Section[] | null): void {
      shown = next ?? []; // a document without "main" leaves no section
    },
  };
  const context = createContext({
    document: {
      querySelectorAll: () => shown,
      querySelector: (selector: string) => (selector === "#connection" ? connection : main),
    },
    location: { href: "/" },
    performance: { now: () => now },
    EventSource: FakeSource,
    DOMParser: class {
      parseFromString = () => ({ querySelector: () => server.leagues });
    },
    setTimeout: (run: () => unknown, ms: number) => timers.push({ at: now + ms, run }),
    fetch: async () => {
      loads.push(now);
      return { ok: server.status === 200, status: server.status, text: async () => "" };
    },
  });
  runInContext(FOLLOW_SCRIPT, context);
  return {
    server,
    sources,
    loads,
    /** Whether the page shows that the manager does not answer. */
    isLost: () => !connection.hidden,
    /** The addresses of the open streams, without their types. */
    following: () =>
      sources.filter(({ readyState }) => readyState !== 2).map(({ url }) => url.replace(/&types=.*$/, "")),
    async advance(ms: number): Promise<void> {
      const end = now + ms;
      for (;;) {
        const next = timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
        if (!next) break;
        timers.splice(timers.indexOf(next), 1);
        now = next.at;
        await next.run();
      }
      now = end;
    },
  };
}

describe("the script of the league page", () => {
  it("loads the page again after a stream was rejected, and follows from the version that the page shows", async () => {
    const page = openPage(section("a b", 40));
    expect(page.following()).toEqual(["/leagues/a%20b/events?from=40"]);
    page.sources[0]?.fail(2);
    page.server.leagues = [section("a b", 3)];
    await page.advance(4_999);
    expect(page.loads).toEqual([]);
    await page.advance(1);
    expect(page.following()).toEqual(["/leagues/a%20b/events?from=3"]);
    page.sources[1]?.emit("started", 4);
    await page.advance(2_000);
    expect(page.loads).toEqual([5_000, 7_000]);
  });

  it("does not load the page after a lost connection, because the browser reconnects", async () => {
    const page = openPage(section("first", 1));
    page.sources[0]?.fail(0);
    await page.advance(60_000);
    expect([page.loads, page.sources.length]).toEqual([[], 1]);
  });

  it("tries again every five seconds while the page cannot be loaded or is not that of a league manager", async () => {
    const page = openPage(section("first", 1));
    page.sources[0]?.fail(2);
    page.server.status = 429;
    await page.advance(10_000);
    page.server.status = 200;
    page.server.leagues = null;
    await page.advance(5_000);
    page.server.leagues = [section("first", 9)];
    await page.advance(5_000);
    expect(page.loads).toEqual([5_000, 10_000, 15_000, 20_000]);
    expect(page.following()).toEqual(["/leagues/first/events?from=9"]);
  });

  it("loads the page at most every two seconds, however many events arrive", async () => {
    const page = openPage(section("first", 0), section("second", 0));
    for (let version = 1; version <= 600; version++) {
      for (const source of page.sources) source.emit("match_completed", version);
      await page.advance(100);
    }
    expect(page.loads).toHaveLength(30);
    expect(page.loads.slice(0, 3)).toEqual([500, 2_500, 4_500]);
  });

  it("stops following a league that the page no longer shows or shows as completed", async () => {
    const page = openPage(section("first", 0), section("second", 0), section("third", 0));
    page.server.leagues = [section("first", 5, "completed"), section("third", 1)];
    page.sources[0]?.emit("completed", 5);
    await page.advance(500);
    expect(page.following()).toEqual(["/leagues/third/events?from=0"]);
    page.sources[1]?.emit("started", 1);
    await page.advance(60_000);
    expect(page.loads).toEqual([500]);
  });

  it("loads the page of more than three leagues every five seconds, and opens no stream", async () => {
    const page = openPage(...["a", "b", "c", "d"].map((league) => section(league, 0)));
    await page.advance(15_000);
    expect([page.sources.length, page.loads]).toEqual([0, [5_000, 10_000, 15_000]]);
    page.server.leagues = ["a", "b", "c"].map((league) => section(league, 7));
    await page.advance(20_000);
    expect([page.following().length, page.loads]).toEqual([3, [5_000, 10_000, 15_000, 20_000]]);
  });

  it("requests only the types of events that change the page", async () => {
    const page = openPage(section("first", 0));
    const types = new URL(page.sources[0]?.url ?? "", "http://manager").searchParams.get("types")?.split(",") ?? [];
    expect(types).toEqual(expect.arrayContaining(["player_entered", "match_completed", "completed"]));
    for (const unused of ["round_paired", "round_announced", "withdrawal_settled"]) expect(types).not.toContain(unused);
    for (const [index, type] of types.entries()) {
      page.sources[0]?.emit(type, index + 1);
      await page.advance(2_000);
    }
    expect(page.loads).toHaveLength(types.length);
  });

  it("shows that the manager does not answer from the second failed connection until the browser has reconnected", () => {
    const page = openPage(section("first", 0));
    page.sources[0]?.fail(0);
    expect(page.isLost()).toBe(false); // a completed league also ends its stream
    page.sources[0]?.fail(0);
    expect(page.isLost()).toBe(true);
    page.sources[0]?.open();
    expect(page.isLost()).toBe(false);
    page.sources[0]?.fail(0);
    expect(page.isLost()).toBe(false);
  });

  it("shows that the manager does not answer while the page cannot be loaded", async () => {
    const page = openPage(...["a", "b", "c", "d"].map((league) => section(league, 0)));
    page.server.status = 503;
    await page.advance(5_000);
    expect(page.isLost()).toBe(true);
    page.server.status = 200;
    await page.advance(5_000);
    expect(page.isLost()).toBe(false);
  });
});
