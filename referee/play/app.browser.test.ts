import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { rpcResourceRead } from "#shared/rpc/testing/json-rpc.ts";
import { type App, openApp } from "#shared/web/testing/app.ts";
import { launchChromium } from "#shared/web/testing/chromium.ts";
import { startTestHost, type TestHost } from "../rest/testing/host.ts";
import { type TestToolResult, toolResult } from "./testing/tools.ts";

let browser: Browser;
let host: TestHost;
beforeAll(async () => {
  [browser, host] = await Promise.all([launchChromium(), startTestHost()]);
});
afterAll(async () => {
  await browser.close();
  await host.remove();
});

it("a model plays with its tools against a person on the app of its host", async () => {
  const created = await toolResult(host, "createGame", { template: "chess", opponent: "human", name: "Claude" });
  const { game_id, seat_token } = created.structuredContent;
  const app = await openApp(browser, { result: created, tool: (call) => toolResult(host, call.name, call.arguments) });
  await status(app, "Waiting for white (Claude)");
  // The board is in the view of the person, with the black pieces at the bottom.
  const top = async (square: string): Promise<number> => (await app.frame.locator(cell(square)).boundingBox())?.y ?? 0;
  expect(await top("h8")).toBeGreaterThan(await top("h1"));

  const moves = [
    { white: "f3", from: "e7", to: "e5" },
    { white: "g4", from: "d8", to: "h4" },
  ];
  for (const [turn, { white, from, to }] of moves.entries()) {
    expect((await toolResult(host, "finishTurn", { game_id, seat_token, move: white })).isError).toBeFalsy();
    await status(app, "Your move");
    if (to === "h4") await app.frame.getByRole("button", { name: "Claim checkmate" }).click();
    await app.frame.click(cell(from));
    await app.frame.click(cell(to));
    // The board shows a move before the server accepts it, and the chat receives a message after that.
    await app.frame.locator(`${cell(to)}.last`).waitFor();
    await expect.poll(() => app.messages.length).toBe(turn + 1);
  }
  await app.frame.locator(".result", { hasText: "You won Checkmate" }).waitFor();
  const answer = await toolResult(host, "waitForNextTurn", { game_id, seat_token });
  expect(answer.structuredContent).toMatchObject({
    next: "game_over",
    result: { winner: "black", reason: "checkmate" },
  });
});

it("a person plays a seat that the model may not see on the app of an MCP Apps host", async () => {
  const extensions = { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } };
  const client = new Client({ name: "test", version: "1.0.0" }, { capabilities: { extensions } });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${host.url}/mcp`)));
  const call = async (name: string, args: object): Promise<TestToolResult> =>
    (await client.callTool({ name, arguments: { ...args } })) as never;
  const created = await call("createGame", { template: "kuhn_poker", opponent: "human", name: "Claude" });
  const { game_id, seat_token } = created.structuredContent;
  const app = await openApp(browser, { result: created, tool: ({ name, arguments: args }) => call(name, args) });
  await status(app, "Waiting for player 1 (Claude)");
  expect((await call("finishTurn", { game_id, seat_token, move: "check" })).isError).toBeFalsy();
  const card = /jack|queen|king/i;
  await app.frame.getByRole("region", { name: "Player 2" }).getByText(card).waitFor();
  expect(await app.frame.getByRole("region", { name: "Player 1" }).innerText()).not.toMatch(card);
  await app.frame.getByRole("button", { name: "bet" }).click();
  await status(app, "Waiting for player 1 (Claude)");
  const answer = await call("waitForNextTurn", { game_id, seat_token, timeout_s: 0 });
  expect(answer.structuredContent).toMatchObject({ next: "your_turn", last_action: { action: "bet" } });
  await client.close();
});

it("the board resource of the server is the app", async () => {
  const body = rpcResourceRead("ui://agent-league/board");
  const { json } = await host.call("POST", "/mcp", { body, headers: { "content-type": "application/json" } });
  expect(json.result.contents[0]).toMatchObject({ mimeType: "text/html;profile=mcp-app" });
  expect(json.result.contents[0].text).toContain('"mode":"app"');
});

const cell = (square: string): string => `[data-cell="${square}"]`;
const status = (app: App, text: string): Promise<void> => app.frame.locator(".status", { hasText: text }).waitFor();
