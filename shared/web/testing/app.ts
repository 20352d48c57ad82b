import { fileURLToPath } from "node:url";
import type { Browser, Frame, Page } from "playwright-core";
import { embeddedBoard } from "#shared/web/bundle.ts";
import { USER_SEAT_META } from "#shared/web/game-view.ts";
import { lazily } from "../../lib/lazy.ts";
import { withEsbuild } from "../esbuild.ts";
import { type TestingGame, testingGame } from "./games.ts";

interface ToolCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** An app in a host, and the messages between the two. */
export interface App {
  readonly page: Page;
  /** The frame of the app. */
  readonly frame: Frame;
  readonly game: TestingGame;
  readonly calls: ToolCall[];
  readonly messages: { readonly content: readonly { readonly text: string }[] }[];
  readonly sizes: { readonly height: number }[];
  /** The URLs that the page and its frames have requested. */
  readonly requests: string[];
}

export interface AppOptions {
  readonly template?: string;
  readonly options?: object;
  readonly human?: string;
  readonly hostContext?: object;
  readonly viewport?: { readonly width: number; readonly height: number };
  /** Whether the tool result contains the person's view in addition to the model's. Default: true. */
  readonly hasPersonView?: boolean;
  /** The tool result with which the app is opened, for a game on another server. */
  readonly result?: object;
  /** Answers tool calls before the test game does. If it returns undefined, the test game answers. */
  readonly tool?: (call: ToolCall) => object | undefined | Promise<object | undefined>;
}

const TOKEN = "seat-token";

/** Opens the app with the tool result that the model would get, which contains the view of the agent. */
export async function openApp(browser: Browser, options: AppOptions = {}): Promise<App> {
  const { template = "chess.v1", human = "white", hostContext = {}, viewport = { width: 700, height: 800 } } = options;
  const game = testingGame(template, options.options, human);
  const page = await (await browser.newContext({ viewport, hasTouch: true })).newPage();
  const app = { page, game, calls: [], messages: [], sizes: [], requests: [] } as unknown as App;
  page.on("request", (request) => app.requests.push(request.url()));
  page.on("pageerror", (error) => {
    throw error;
  });
  await page.exposeFunction("callTool", async (call: ToolCall) => {
    app.calls.push(call);
    return (await options.tool?.(call)) ?? answerTool(game, human, call);
  });
  await page.exposeFunction("onAppMessage", (name: string, params: never) => {
    (name === "size" ? app.sizes : app.messages).push(params);
  });
  await page.setContent(`<!doctype html><title>Host</title><body><script>${await hostScript()}</script>`);
  const agent = game.view(human).roles.find((role) => role !== human) ?? "";
  const result = {
    content: [{ type: "text", text: "The game has begun." }],
    structuredContent: game.view(agent),
    _meta: {
      [USER_SEAT_META]: {
        role: human,
        token: TOKEN,
        ...(options.hasPersonView !== false && { view: game.view(human) }),
      },
    },
  };
  const html = await embeddedBoard({ mode: "app" });
  await page.evaluate(`window.showApp(...${JSON.stringify([html, hostContext, options.result ?? result])})`);
  const frame = page.frames().find((candidate) => candidate.parentFrame() !== null) as Frame;
  return Object.assign(app, { frame });
}

/** Answers calls of the two tools as the server does. */
async function answerTool(game: TestingGame, human: string, call: ToolCall): Promise<object> {
  const { move, claim, seat_token } = call.arguments;
  if (seat_token !== TOKEN) return toolError("no such seat");
  if (call.name === "waitForNextTurn") {
    while (!game.view(human).to_act.includes(human) && game.view(human).status === "active")
      await game.after(game.tick);
    return { content: [], structuredContent: { ...game.view(human), waiting: false } };
  }
  try {
    return { content: [], structuredContent: game.play(human, move, claim as string | undefined) };
  } catch (error) {
    return toolError((error as Error).message);
  }
}

/** Returns the result of a tool that has failed. */
export const toolError = (text: string): object => ({ isError: true, content: [{ type: "text", text }] });

const hostScript = lazily("the script of the host", async () => {
  const { outputFiles } = await withEsbuild(({ build }) =>
    build({
      entryPoints: [fileURLToPath(new URL("./app-host.ts", import.meta.url))],
      bundle: true,
      minify: true,
      write: false,
      format: "iife",
    }),
  );
  return outputFiles[0]?.text ?? "";
});
