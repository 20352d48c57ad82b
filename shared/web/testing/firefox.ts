import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { findProgram, requireProgram } from "#shared/runtime/testing/packages.ts";

const PATHS = [...(process.env.FIREFOX ? [process.env.FIREFOX] : []), "/usr/bin/firefox-esr", "/usr/bin/firefox"];

/** Runs before all browser tests: installs Debian's Firefox if it is missing. */
export function setup(): void {
  requireProgram(PATHS, "firefox-esr");
}

/** A page in Firefox. */
interface FirefoxPage {
  /** What the page wrote to the console as an error, uncaught errors, and violations of the content security policy. */
  readonly errors: readonly string[];
  /** Resolves with the text of the first element that matches, as soon as there is one whose text contains `text`. */
  waitFor(selector: string, text?: string): Promise<string>;
  /** Clicks in the middle of the element with the mouse, as soon as there is one. */
  click(selector: string): Promise<void>;
  evaluate(expression: string): Promise<unknown>;
}

export interface Firefox {
  open(url: string): Promise<FirefoxPage>;
  close(): Promise<void>;
}

/** The messages of WebDriver BiDi, https://www.w3.org/TR/webdriver-bidi/. Playwright supports only its own build of Firefox. */
interface Message {
  readonly id?: number;
  readonly type: "success" | "error" | "event";
  readonly method?: string;
  readonly message?: string;
  // biome-ignore lint/suspicious/noExplicitAny: the fields depend on the command or the event
  readonly result?: any;
  // biome-ignore lint/suspicious/noExplicitAny: the fields depend on the command or the event
  readonly params?: any;
}

/** Reports violations of the content security policy as errors on the console, from which the test reads them. */
const REPORT_VIOLATIONS = `() => addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
  console.error("content security policy: " + violatedDirective + " " + blockedURI))`;

/** Resolves with the element as soon as it matches; a mutation of the document is the event to wait for. */
const FIND = `(selector, text) => new Promise((resolve, reject) => {
  const check = () => {
    const found = [...document.querySelectorAll(selector)].find((one) => one.textContent.includes(text));
    if (!found) return;
    observer.disconnect();
    clearTimeout(timer);
    resolve(found);
  };
  const observer = new MutationObserver(check);
  observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
  const fail = () => reject(new Error("no " + selector + " with " + text + " in " + document.body.textContent.slice(0, 300)));
  const timer = setTimeout(fail, 30000);
  check();
})`;

/** An error in the code of Firefox 140, which it sometimes reports even for a page without scripts. An error of a page has a stack trace. */
const ERROR_OF_FIREFOX = 'Error: Permission denied to access property "length"';

/** Starts Debian's Firefox without a window. The caller closes it. */
export async function launchFirefox(): Promise<Firefox> {
  const profile = mkdtempSync(join(tmpdir(), "firefox-"));
  const program = findProgram(PATHS) ?? "/usr/bin/firefox-esr";
  const args = ["--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0", "about:blank"];
  const firefox = spawn(program, args, { stdio: ["ignore", "ignore", "pipe"] });
  const exited = once(firefox, "exit");
  const { send, on, close } = await connect(await addressOf(firefox.stderr));
  await send("session.new", { capabilities: {} });
  await send("session.subscribe", { events: ["log.entryAdded"] });
  await send("script.addPreloadScript", { functionDeclaration: REPORT_VIOLATIONS });
  return {
    async open(url) {
      // A window, because the page of a tab in the background is hidden.
      const { context } = await send("browsingContext.create", { type: "window" });
      const errors: string[] = [];
      on("log.entryAdded", ({ level, text, source, stackTrace }) => {
        const isOfFirefox = stackTrace === undefined && text === ERROR_OF_FIREFOX;
        if (source.context === context && level === "error" && !isOfFirefox) errors.push(text);
      });
      await send("browsingContext.navigate", { context, url, wait: "complete" });
      const target = { context };
      const find = async (selector: string, text = "") => {
        const values = [selector, text].map((value) => ({ type: "string", value }));
        const call = { functionDeclaration: FIND, arguments: values, awaitPromise: true, target };
        return resultOf(await send("script.callFunction", call));
      };
      return {
        errors,
        async waitFor(selector, text) {
          const element = await find(selector, text);
          const call = { functionDeclaration: "(element) => element.textContent", arguments: [element] };
          return resultOf(await send("script.callFunction", { ...call, awaitPromise: false, target })).value;
        },
        async click(selector) {
          const element = await find(selector);
          const origin = { type: "element", element: { sharedId: element.sharedId } };
          const move = { type: "pointerMove", x: 0, y: 0, origin };
          const button = [
            { type: "pointerDown", button: 0 },
            { type: "pointerUp", button: 0 },
          ];
          const mouse = { type: "pointer", id: "mouse", actions: [move, ...button] };
          const scroll = "(element) => element.scrollIntoView({ block: 'center' })";
          await send("script.callFunction", {
            functionDeclaration: scroll,
            arguments: [element],
            awaitPromise: false,
            target,
          });
          await send("input.performActions", { context, actions: [mouse] });
        },
        async evaluate(expression) {
          return resultOf(await send("script.evaluate", { expression, awaitPromise: true, target })).value;
        },
      };
    },
    async close() {
      await send("browser.close", {});
      close();
      await exited;
      rmSync(profile, { recursive: true, force: true });
    },
  };
}

/** Resolves with the address that Firefox prints when it listens. */
async function addressOf(stderr: NodeJS.ReadableStream): Promise<string> {
  const lines: string[] = [];
  for await (const line of createInterface({ input: stderr })) {
    const address = /WebDriver BiDi listening on (ws:\S+)/.exec(line)?.[1];
    if (address !== undefined) {
      stderr.resume(); // Firefox stops when the pipe is full
      return address;
    }
    lines.push(line);
  }
  throw new Error(`Firefox has ended:\n${lines.join("\n")}`);
}

function resultOf({ type, result, exceptionDetails }: Message["result"]) {
  if (type === "exception") throw new Error(exceptionDetails.text);
  return result;
}

/** Connects to Firefox. `send` resolves with the result of a command. */
async function connect(address: string) {
  const socket = new WebSocket(`${address}/session`);
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve);
    socket.addEventListener("error", reject);
  });
  const waiting = new Map<number, PromiseWithResolvers<Message["result"]>>();
  const listeners: [string, (params: Message["params"]) => void][] = [];
  let commands = 0;
  socket.addEventListener("message", ({ data }) => {
    const { id = 0, type, method, message, result, params } = JSON.parse(String(data)) as Message;
    if (type === "event") for (const [name, listen] of listeners) if (name === method) listen(params);
    if (type === "success") waiting.get(id)?.resolve(result);
    if (type === "error") waiting.get(id)?.reject(new Error(message));
  });
  return {
    send(method: string, params: object): Promise<Message["result"]> {
      const id = ++commands;
      const answer = Promise.withResolvers<Message["result"]>();
      waiting.set(id, answer);
      socket.send(JSON.stringify({ id, method, params }));
      return answer.promise;
    },
    on: (method: string, listen: (params: Message["params"]) => void) => void listeners.push([method, listen]),
    close: () => socket.close(),
  };
}
