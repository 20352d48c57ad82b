import { afterEach, describe, expect, it } from "vitest";
import { type ManualClock, manualClock } from "#shared/lib/testing/clock.ts";
import { type BrowserOptions, browserObstacle, openBrowser } from "./browser.ts";

const attended = { env: { DISPLAY: ":0" }, platform: "linux", isAttended: true };

describe("browserObstacle", () => {
  it.each<[string, Partial<Omit<BrowserOptions, "url">>, string | null]>([
    ["a process at a desktop, started by a person", {}, null],
    ["Wayland", { env: { WAYLAND_DISPLAY: "wayland-0" } }, null],
    ["no display", { env: {} }, "no display"],
    ["an empty display", { env: { DISPLAY: "" } }, "no display"],
    ["macOS without a display variable", { env: {}, platform: "darwin" }, null],
    ["Windows without a display variable", { env: {}, platform: "win32" }, null],
    ["not started by a person", { isAttended: false }, "not started by a person"],
    ["MCP_DISABLE_BROWSER=1", { env: { DISPLAY: ":0", MCP_DISABLE_BROWSER: "1" } }, "MCP_DISABLE_BROWSER=1"],
    ["MCP_DISABLE_BROWSER=0", { env: { DISPLAY: ":0", MCP_DISABLE_BROWSER: "0" } }, null],
    ["CI", { env: { DISPLAY: ":0", CI: "true" } }, "CI"],
    ["CI on macOS", { env: { CI: "1" }, platform: "darwin" }, "CI"],
    ["CI=false", { env: { DISPLAY: ":0", CI: "false" } }, null],
  ])("returns for %s the reason why no browser is opened", (_, options, obstacle) => {
    expect(browserObstacle({ ...attended, ...options })).toBe(obstacle);
  });
});

describe("openBrowser", () => {
  const url = "http://127.0.0.1:8001";
  const lines: string[] = [];
  let clock: ManualClock;
  const opened: string[] = [];
  const open = async (page: string) => void opened.push(page);
  afterEach(() => {
    lines.length = 0;
    opened.length = 0;
  });
  const begin = (options: Partial<BrowserOptions> = {}, opener = open) => {
    clock = manualClock();
    return openBrowser({ ...attended, url, ...options }, { say: (line) => void lines.push(line), clock }, opener);
  };

  it("opens a page once", async () => {
    begin();
    await clock.advance(60_000);
    expect(opened).toEqual([url]);
    expect(lines).toEqual([]);
  });

  it.each(["visited", "stop"] as const)("opens no page after %s", async (method) => {
    const browser = begin();
    await clock.advance(1_000);
    browser[method]();
    await clock.advance(60_000);
    expect(opened).toEqual([]);
    expect(clock.timers()).toBe(0);
  });

  it("starts no timer if no browser may be opened", () => {
    const browser = begin({ env: { ...attended.env, MCP_DISABLE_BROWSER: "1" } });
    expect(clock.timers()).toBe(0);
    browser.visited();
    browser.stop();
  });

  it("shows the URL if there is no browser", async () => {
    begin({}, () => Promise.reject(new Error("spawn xdg-open ENOENT")));
    await clock.advance(60_000);
    expect(lines).toEqual([`open ${url} in a browser to watch`]);
  });
});
