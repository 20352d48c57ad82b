import { afterEach, describe, expect, it } from "vitest";
import { type ManualClock, manualClock } from "#shared/lib/testing/clock.ts";
import { type BrowserOptions, openBrowser, whyNoBrowser } from "./browser.ts";

const desk = { env: { DISPLAY: ":0" }, platform: "linux", isAttended: true };

describe("whyNoBrowser", () => {
  it.each<[string, Partial<Omit<BrowserOptions, "url">>, string | null]>([
    ["a person at a desk", {}, null],
    ["Wayland", { env: { WAYLAND_DISPLAY: "wayland-0" } }, null],
    ["no display", { env: {} }, "no display"],
    ["an empty display", { env: { DISPLAY: "" } }, "no display"],
    ["macOS needs none", { env: {}, platform: "darwin" }, null],
    ["Windows needs none", { env: {}, platform: "win32" }, null],
    ["not started by a person", { isAttended: false }, "not started by a person"],
    ["switched off", { env: { DISPLAY: ":0", MCP_DISABLE_BROWSER: "1" } }, "MCP_DISABLE_BROWSER=1"],
    ["not switched off", { env: { DISPLAY: ":0", MCP_DISABLE_BROWSER: "0" } }, null],
    ["in CI", { env: { DISPLAY: ":0", CI: "true" } }, "CI"],
    ["in CI, also on macOS", { env: { CI: "1" }, platform: "darwin" }, "CI"],
    ["expressly not in CI", { env: { DISPLAY: ":0", CI: "false" } }, null],
  ])("%s", (_, options, why) => {
    expect(whyNoBrowser({ ...desk, ...options })).toBe(why);
  });
});

describe("openBrowser", () => {
  const url = "http://127.0.0.1:8001";
  const said: string[] = [];
  let clock: ManualClock;
  const opened: string[] = [];
  const open = async (page: string) => void opened.push(page);
  afterEach(() => {
    said.length = 0;
    opened.length = 0;
  });
  const begin = (options: Partial<BrowserOptions> = {}, opener = open) => {
    clock = manualClock();
    return openBrowser({ ...desk, url, ...options }, { say: (line) => void said.push(line), clock }, opener);
  };

  it("opens a page once", async () => {
    begin();
    await clock.advance(60_000);
    expect(opened).toEqual([url]);
    expect(said).toEqual([]);
  });

  it.each(["visited", "stop"] as const)("opens none after %s", async (what) => {
    const browser = begin();
    await clock.advance(1_000);
    browser[what]();
    await clock.advance(60_000);
    expect(opened).toEqual([]);
    expect(clock.timers()).toBe(0);
  });

  it("waits for nothing where no browser is to be opened", () => {
    const browser = begin({ env: { ...desk.env, MCP_DISABLE_BROWSER: "1" } });
    expect(clock.timers()).toBe(0);
    browser.visited();
    browser.stop();
  });

  it("says where to look when there is no browser", async () => {
    begin({}, () => Promise.reject(new Error("spawn xdg-open ENOENT")));
    await clock.advance(60_000);
    expect(said).toEqual([`open ${url} in a browser to watch`]);
  });
});
