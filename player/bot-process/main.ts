/**
 * The process of a bot file. It plays the matches that the player gives it through pipes (messages.ts). It runs with
 * Node's permissions, so this file and its imports must stay few and small.
 */
import { writeSync } from "node:fs";
import { Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { inspect } from "node:util";
import { systemClock } from "#shared/lib/clock.ts";
import { cutTo } from "#shared/lib/text.ts";
import { readLines } from "#shared/rpc/stdio/stdio-lines.ts";
import { resolveOtherEndings } from "#shared/runtime/files/other-endings.ts";
import type { BotObject, Turn } from "../sdk.ts";
import { type BotForm, checkedAction, formOf, gamesOf, logLine, NotAnAction, turnOf } from "./bot-object.ts";
import { guardProcess } from "./guard.ts";
import { endIfReplaced } from "./intrinsics.ts";
import {
  type DeniedAccess,
  type FromBotProcess,
  MAX_MESSAGE_BYTES,
  PIPES,
  type Question,
  type ThrownError,
  type ToBotProcess,
} from "./messages.ts";

interface BotMatch {
  readonly bot: BotObject;
  readonly history: Turn["history"][number][];
}

/** The maximum length of the texts that a bot writes. */
const MAX_TEXT_CHARACTERS = 16_384;
/** How often the process checks, while the bot file is loading, if the file has replaced functions. */
const WATCH_MS = 50;

const [file = "", memoryMb = "", debuggerAddress] = process.argv.slice(2);
const matches = new Map<number, BotMatch>();
/** The open turns, by the number of their question. */
const turns = new Map<number, AbortController>();
/** The answers of this turn of the event loop. They are written together, because each write takes longer than the answer. */
let answers: Buffer[] = [];
let form: BotForm;

await load();

async function load(): Promise<void> {
  await guardProcess(Number(memoryMb));
  resolveOtherEndings();
  if (debuggerAddress !== undefined) await waitForDebugger(debuggerAddress);
  let exported: { readonly default?: unknown; readonly games?: unknown };
  // The import does not end if the bot replaces `then` of promises. The process then waits, or ends because nothing is left to do.
  const watch = setInterval(endIfReplaced, WATCH_MS);
  watch.unref();
  process.on("exit", endIfReplaced);
  try {
    exported = await import(pathToFileURL(file).href);
  } catch (thrown) {
    endIfReplaced();
    return notLoaded({ type: "not_loaded", thrown: dataOf(thrown) });
  }
  endIfReplaced();
  clearInterval(watch);
  process.off("exit", endIfReplaced);
  const found = formOf(exported.default);
  const games = gamesOf(exported.games);
  if (typeof found === "string") return notLoaded({ type: "not_loaded", fault: found });
  if (typeof games === "string") return notLoaded({ type: "not_loaded", fault: games });
  form = found;
  readLines(new Socket({ fd: PIPES.fromPlayer, writable: false }), Number.POSITIVE_INFINITY, {
    line: (text) => void receive(JSON.parse(text) as ToBotProcess),
    tooLong: () => {},
    // The output is asynchronous. The player waits for its last lines.
    end: () => process.stdout.write("", () => process.stderr.write("", () => process.exit())),
  });
  send({ type: "loaded", games });
}

/**
 * Sends a message. Waits until the player has read it, so that a bot that sends many messages does not fill the memory.
 * Throws NotAnAction if the action in the message is too long.
 */
function send(message: FromBotProcess): void {
  const line = Buffer.from(`${JSON.stringify(message)}\n`);
  if (line.length > MAX_MESSAGE_BYTES) throw new NotAnAction(`an action may have at most ${MAX_MESSAGE_BYTES} bytes`);
  if (answers.length === 0) process.nextTick(writeAnswers);
  answers.push(line);
  if (message.type !== "answer") writeAnswers();
}

function writeAnswers(): void {
  const lines = Buffer.concat(answers);
  answers = [];
  for (let sent = 0; sent < lines.length; ) sent += writeSync(PIPES.toPlayer, lines, sent);
}

function notLoaded(message: FromBotProcess): void {
  send(message);
  process.exit();
}

/** Waits until a debugger is connected to this process at `HOST:PORT`. */
async function waitForDebugger(address: string): Promise<void> {
  const inspector = await import("node:inspector");
  const [host, port] = address.split(":");
  inspector.open(Number(port), host); // prints the URL
  if (inspector.url() === undefined) {
    return notLoaded({ type: "not_loaded", fault: `${address} is in use; choose another --inspect-port` });
  }
  inspector.waitForDebugger();
}

async function receive(message: ToBotProcess): Promise<void> {
  if ("abort" in message) return turns.get(message.abort)?.abort(new DOMException("the turn is over", "AbortError"));
  if ("drop" in message) return void matches.delete(message.drop);
  const { id, question } = message;
  try {
    send({ type: "answer", id, value: await answer(id, question) });
  } catch (thrown) {
    if (thrown instanceof NotAnAction) send({ type: "no_action", id, fault: thrown.message });
    else send({ type: "threw", id, thrown: dataOf(thrown) });
  }
}

async function answer(id: number, question: Question): Promise<unknown> {
  switch (question.type) {
    case "ping":
      await setImmediate(); // A turn that ends because of an abort before this message is answered first.
      return null;
    case "examine":
      return form.fault();
    case "start": {
      const bot = form.create();
      matches.set(question.match, { bot, history: [] });
      await bot.start?.(question.info);
      return null;
    }
    case "turn":
      return choose(id, question);
    case "end": {
      const match = matches.get(question.match);
      matches.delete(question.match);
      await match?.bot.end?.(question.result);
      return null;
    }
  }
}

async function choose(id: number, { match: number, turn }: Extract<Question, { type: "turn" }>): Promise<unknown> {
  const match = matches.get(number);
  if (match === undefined) throw new Error("the match has not begun");
  match.history.push(...(turn.history as BotMatch["history"]));
  const controller = new AbortController();
  turns.set(id, controller);
  const log = (...values: readonly unknown[]): void =>
    send({ type: "log", match: number, line: textOf(logLine(values)) });
  try {
    // A copy, because the next turn adds to the list.
    return checkedAction(
      await match.bot.choose(
        turnOf(turn, { history: [...match.history], signal: controller.signal, log, clock: systemClock }),
      ),
    );
  } finally {
    turns.delete(id);
  }
}

function dataOf(thrown: unknown): ThrownError | string {
  if (!(thrown instanceof Error)) return textOf(typeof thrown === "string" ? thrown : inspect(thrown));
  const { name, stack = "" } = thrown;
  const denied = deniedAccessOf(thrown) ?? deniedAccessOf(thrown.cause);
  const message = textOf(messageWithCause(thrown));
  return { name: textOf(name), message, stack: textOf(stack), ...(denied && { denied }) };
}

/** The message of an error with that of its cause: the message of an error of `fetch` is always "fetch failed". */
function messageWithCause({ message, cause }: Error): string {
  if (!(cause instanceof Error)) return message;
  const { code } = cause as NodeJS.ErrnoException; // an error of several addresses has no message
  return `${message}: ${cause.message || code || cause.name}`;
}

/** Cuts a text to the length that a message may contain. */
function textOf(value: unknown): string {
  return cutTo(MAX_TEXT_CHARACTERS, String(value));
}

function deniedAccessOf(thrown: unknown): DeniedAccess | null {
  const {
    code,
    permission = "",
    resource = "",
  } = (thrown ?? {}) as Partial<DeniedAccess> & { readonly code?: unknown };
  return code === "ERR_ACCESS_DENIED" ? { permission: textOf(permission), resource: textOf(resource) } : null;
}
