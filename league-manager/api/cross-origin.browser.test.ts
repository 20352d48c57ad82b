import { createServer } from "node:http";
import type { Page } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { listenOnLoopback } from "#shared/rpc/testing/loopback.ts";
import { launchChromium } from "#shared/web/testing/chromium.ts";
import { rpcOf, startTestManager } from "../testing/test-manager.ts";

/** Starts another site with an empty page. Resolves with its origin. */
async function startSite(): Promise<string> {
  const site = createServer((_, response) => void response.setHeader("content-type", "text/html").end("<h1>Site</h1>"));
  onTestFinished(() => void site.close().closeAllConnections());
  return `http://127.0.0.1:${await listenOnLoopback(site)}`;
}

/** The answer that a page has read; null if the browser has not let it read one. */
type Answer = { readonly status: number; readonly session: string | null; readonly text: string } | null;

/** Calls `fetch` in a page with these arguments. */
async function fetchIn(page: Pick<Page, "evaluate">, url: string, init: object): Promise<Answer> {
  const script = `(async ([url, init]) => {
    const answer = await fetch(url, init).catch(() => null);
    return answer && { status: answer.status, session: answer.headers.get("mcp-session-id"), text: await answer.text() };
  })`;
  return page.evaluate(`${script}(${JSON.stringify([url, init])})`);
}

const JSON_TYPE = { "content-type": "application/json" };
const BOTH = { ...JSON_TYPE, accept: "application/json, text/event-stream" };
const STANDINGS = { name: "get_standings", arguments: { league_id: "rps" } };
const PAUSE = rpcOf("tools/call", { name: "pause_league", arguments: { league_id: "rps" } });
const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "page", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

it("a page of an allowed origin uses MCP by fetch, pages of other origins cannot, and none can act as the operator", async () => {
  const [app, other] = [await startSite(), await startSite()];
  const manager = await startTestManager([{ league_id: "rps", game: "rps.v1" }], { allowed_origins: [app] });
  onTestFinished(() => manager.stop());
  const browser = await launchChromium();
  onTestFinished(() => browser.close());
  const page = await browser.newPage();
  await page.goto(app);
  const call = (headers: object, body: string, method = "POST", at: Pick<Page, "evaluate"> = page): Promise<Answer> =>
    fetchIn(at, manager.url, { method, headers, ...(body !== "" && { body }) });

  expect(await call(JSON_TYPE, rpcOf("tools/call", STANDINGS))).toMatchObject({ status: 200 });

  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "page", version: "1" } };
  const opened = await call(BOTH, rpcOf("initialize", params));
  expect(opened).toMatchObject({ status: 200, session: expect.stringMatching(/./) });
  const session = { "Mcp-Session-Id": opened?.session, "MCP-Protocol-Version": "2025-11-25" };
  expect(await call({ ...BOTH, ...session }, rpcOf("tools/call", STANDINGS))).toMatchObject({ status: 200 });
  const resumed = { ...session, accept: "application/json", "Last-Event-ID": "1" };
  expect(await call(resumed, "", "GET")).toMatchObject({ status: 406 });
  expect(await call(session, "", "DELETE")).toMatchObject({ status: 200 });

  const stateless = { "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "get_standings" };
  const standings = rpcOf("tools/call", { ...STANDINGS, _meta: META });
  expect(await call({ ...BOTH, ...stateless }, standings)).toMatchObject({ status: 200 });

  const authorization = `Bearer ${manager.operator}`;
  const text = expect.stringContaining("cannot call the tools of the operator");
  expect(await call({ ...JSON_TYPE, authorization }, PAUSE)).toMatchObject({ status: 200, text });
  const answer = await fetchIn(page, manager.url.replace("/mcp", "/api/leagues"), { method: "GET" });
  expect(answer).toBeNull();

  const foreign = await browser.newPage();
  await foreign.goto(other);
  expect(await call(JSON_TYPE, rpcOf("tools/call", STANDINGS), "POST", foreign)).toBeNull();
  await page.setContent('<iframe sandbox="allow-scripts" srcdoc="<h1>Frame</h1>"></iframe>');
  const frame = page.frames().find((one) => one.parentFrame() !== null);
  if (!frame) throw new Error("the page has no frame");
  expect(await frame.evaluate("self.origin")).toBe("null");
  expect(await call(JSON_TYPE, rpcOf("tools/call", STANDINGS), "POST", frame as never)).toBeNull();
});
