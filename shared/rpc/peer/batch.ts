import type { Dispatcher } from "undici";
import type { Cancel, Clock } from "../../lib/clock.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { jsonOf } from "../../lib/text.ts";
import { failed, joined, jsonHeaders, send, type Target } from "./exchange.ts";
import { type CallFault, type CallOptions, GIVEN_UP, Pending, parsed, RAW_LIMIT, type RawReply } from "./pending.ts";

/** Sends one JSON-RPC request to an endpoint, together with others that are called in the same turn of the event loop. */
export type Batches = (
  target: Target,
  id: number,
  body: string,
  options: CallOptions,
) => Promise<Result<RawReply, CallFault>>;

interface Queued {
  readonly id: number;
  readonly body: string;
  /** Of the body and what stands before it. */
  readonly bytes: number;
  readonly call: Pending;
}

/** What waits for the end of this turn, for one endpoint and one bearer. */
interface Queue {
  readonly target: Target;
  readonly bearer: string | undefined;
  calls: Queued[];
  bytes: number;
}

/** Both below what endpoints take by PROTOCOL.md (sections 3 and 4), and the bytes below what common servers take that set no limit of their own. */
const MAX_CALLS = 64;
const MAX_BYTES = 96 * 1024;
/** How long a server may take to end an array whose last answer has come. */
const END_MS = 1_000;

/**
 * Group commit for calls: what is asked of one endpoint in one turn goes in one POST, as a JSON-RPC batch; a lone call goes as it is. Each call
 * keeps its own deadline, signal and answer, and is settled as soon as its answer is there: none waits for another.
 */
export function createBatches(clock: Clock): Batches {
  let queues: Queue[] = [];

  const flush = (): void => {
    const due = queues;
    queues = [];
    for (const queue of due) sendAll(queue, clock);
  };

  const queueFor = (target: Target, bearer: string | undefined): Queue => {
    const known = queues.find((one) => one.target === target && one.bearer === bearer);
    if (known) return known;
    if (queues.length === 0) clock.defer(flush);
    const queue: Queue = { target, bearer, calls: [], bytes: 0 };
    queues.push(queue);
    return queue;
  };

  return (target, id, body, options) =>
    new Promise((resolve, reject) => {
      if (options.signal?.aborted) return resolve(GIVEN_UP);
      const queue = queueFor(target, options.bearer);
      const bytes = Buffer.byteLength(body) + 1;
      if (queue.calls.length === MAX_CALLS || queue.bytes + bytes > MAX_BYTES) sendAll(queue, clock);
      queue.calls.push({ id, body, bytes, call: new Pending(options, clock, resolve, reject) });
      queue.bytes += bytes;
    });
}

/** Sends what waits in a queue and was not given up meanwhile, and empties it. */
function sendAll(queue: Queue, clock: Clock): void {
  const calls = queue.calls.filter(({ call }) => !call.isSettled);
  queue.calls = [];
  queue.bytes = 0;
  const [first] = calls;
  if (!first) return;
  const { pool, path } = queue.target;
  if (calls.length === 1) send(queue.target, "POST", first.body, first.call);
  else {
    const body = arrayOf(calls);
    pool.dispatch({ path, method: "POST", body, headers: jsonHeaders(first.call) }, new BatchExchange(calls, clock));
  }
}

/** The bodies as one JSON array, written once where a joined string would be copied again. */
function arrayOf(calls: readonly Queued[]): Buffer {
  const buffer = Buffer.allocUnsafe(calls.reduce((sum, { bytes }) => sum + bytes, 1));
  let end = 0;
  for (const { body } of calls) {
    buffer[end] = end === 0 ? OPEN : COMMA;
    end += 1 + buffer.write(body, end + 1);
  }
  buffer[end] = CLOSE;
  return buffer;
}

/**
 * One POST of several calls and its answers, as undici tells of them. An array with one element a line is read line by line, as it comes; any
 * other form is read at its end.
 */
class BatchExchange implements Dispatcher.DispatchHandler {
  readonly #calls: ReadonlyMap<number, Pending>;
  #open: number;
  readonly #lineLimit: number;
  readonly #limit: number;
  #form: "unknown" | "lines" | "whole" = "unknown";
  /** What has come since the last whole line. */
  #chunks: Buffer[] = [];
  #pendingBytes = 0;
  #bytes = 0;
  #status = 0;
  /** Elements that answer none of these calls. */
  #strays = "";
  #isBroken = false;
  #hasEnded = false;
  #controller: Dispatcher.DispatchController | null = null;
  #cancelEnding: Cancel | null = null;
  readonly #clock: Clock;

  constructor(calls: readonly Queued[], clock: Clock) {
    this.#clock = clock;
    this.#calls = new Map(calls.map(({ id, call }) => [id, call]));
    this.#open = calls.length;
    const limits = calls.map(({ call }) => call.maxReplyBytes);
    this.#lineLimit = Math.max(...limits);
    this.#limit = limits.reduce((sum, one) => sum + one, 0);
    for (const { call } of calls) call.onSettled = this.#onSettled;
  }

  readonly #onSettled = (isAnswered: boolean): void => {
    this.#open--;
    if (this.#open > 0 || this.#hasEnded) return;
    if (isAnswered) this.#cancelEnding = this.#clock.after(END_MS, () => this.#abort());
    else this.#abort();
  };

  #abort(): void {
    this.#controller?.abort(new Error("nobody waits for it"));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#open === 0) this.#abort();
  }

  onResponseStart(_controller: Dispatcher.DispatchController, statusCode: number): void {
    this.#status = statusCode;
    if (statusCode < 200 || statusCode >= 300) this.#form = "whole";
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length;
    this.#pendingBytes += chunk.length;
    this.#chunks.push(chunk);
    if (this.#form !== "whole" && chunk.includes(NEWLINE)) this.#readLines();
    if (this.#bytes > this.#limit) this.#tooLarge(this.#limit);
    else if (this.#form === "lines" && this.#pendingBytes > this.#lineLimit) this.#tooLarge(this.#lineLimit);
  }

  #tooLarge(limit: number): void {
    const raw = joined(this.#chunks).toString("utf8", 0, RAW_LIMIT);
    this.#chunks = [];
    for (const call of this.#calls.values()) call.settle(tooLarge(limit, raw));
  }

  #readLines(): void {
    const bytes = joined(this.#chunks);
    const end = bytes.lastIndexOf(NEWLINE);
    const lines = bytes.toString("utf8", 0, end).split("\n");
    const isNew = this.#form === "unknown";
    if (isNew && lines[0] !== "[") this.#form = "whole";
    else if (isNew && lines.length > 1) this.#form = this.#takeLine(lines[1] ?? "") ? "lines" : "whole";
    this.#chunks = [this.#form === "lines" ? bytes.subarray(end + 1) : bytes];
    if (this.#form !== "lines") return;
    this.#pendingBytes = bytes.length - end - 1;
    for (const line of isNew ? lines.slice(2) : lines) this.#isBroken = !this.#takeLine(line) || this.#isBroken;
  }

  /** Whether a line is an element of the array, or its end. */
  #takeLine(line: string): boolean {
    if (line === "]" || line === "") return true;
    const text = line.startsWith(",") ? line.slice(1) : line.endsWith(",") ? line.slice(0, -1) : line;
    const json = parsed(text);
    if (json) this.#take(json.value, text);
    return json !== null;
  }

  #take(element: unknown, text: string): void {
    const id = typeof element === "object" && element !== null && "id" in element ? element.id : undefined;
    const call = typeof id === "number" ? this.#calls.get(id) : undefined;
    if (!call) this.#strays += this.#strays.length < RAW_LIMIT ? `${text.slice(0, RAW_LIMIT)}\n` : "";
    else if (text.length * MAX_UTF8 > call.maxReplyBytes && Buffer.byteLength(text) > call.maxReplyBytes) {
      call.settle(tooLarge(call.maxReplyBytes, text.slice(0, RAW_LIMIT)));
    } else call.settle(ok({ status: this.#status, text, json: { value: element } }));
  }

  onResponseEnd(): void {
    this.#hasEnded = true;
    this.#cancelEnding?.();
    if (this.#open === 0) return;
    const text = joined(this.#chunks).toString("utf8");
    const rest = this.#form === "lines" ? this.#lastLine(text) : this.#whole(text);
    for (const call of this.#calls.values()) call.settle(ok(rest));
  }

  /** Takes what stands behind the last newline; returns what the calls get that have no answer. */
  #lastLine(text: string): RawReply {
    const isElement = this.#takeLine(text.endsWith("]") ? text.slice(0, -1) || "]" : text);
    const json = isElement && !this.#isBroken ? NO_ANSWER : null;
    return { status: this.#status, text: this.#strays, json };
  }

  /** The same of a body that is not in lines. One that is no array answers all calls alike. */
  #whole(text: string): RawReply {
    const json = parsed(text);
    if (!Array.isArray(json?.value)) return { status: this.#status, text, json };
    for (const element of json.value) this.#take(element, jsonOf(element));
    return { status: this.#status, text: this.#strays, json: NO_ANSWER };
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#hasEnded = true;
    this.#cancelEnding?.();
    for (const call of this.#calls.values()) failed(call, error);
  }
}

const NO_ANSWER = { value: undefined };
const [NEWLINE, OPEN, COMMA, CLOSE] = [10, 91, 44, 93];
/** Bytes that one UTF-16 unit takes at most. */
const MAX_UTF8 = 3;

const tooLarge = (limit: number, raw: string) =>
  err({ cause: "too_large", detail: `an answer of more than ${limit} bytes`, raw } as const);
