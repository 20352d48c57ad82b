import type { Dispatcher } from "undici";
import type { Cancel, Clock } from "../../lib/clock.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import { jsonOf } from "../../lib/text.ts";
import { endFailed, joinChunks, jsonHeaders, send, type Target } from "./exchange.ts";
import { CANCELLED, type CallFault, type CallOptions, Pending, parsed, RAW_LIMIT, type RawReply } from "./pending.ts";

/**
 * Sends the JSON-RPC request `body` with the id `id`, together with the other requests to the same target in this turn of the event loop. Resolves
 * with the response or a fault. Rejects only if this machine has a shortage of files, memory or ports.
 */
export type Batches = (
  target: Target,
  id: number,
  body: string,
  options: CallOptions,
) => Promise<Result<RawReply, CallFault>>;

interface Queued {
  readonly id: number;
  readonly body: string;
  /** The size of the body and of the bracket or comma before it. */
  readonly sizeBytes: number;
  readonly call: Pending;
}

/** The calls to one endpoint with one bearer token that are sent at the end of this turn of the event loop. */
interface Queue {
  readonly target: Target;
  readonly bearer: string | undefined;
  calls: Queued[];
  sizeBytes: number;
}

/** Limits of one batch. Both are below the limits of PROTOCOL.md (sections 3 and 4); the size is also below the default limits of common servers. */
const MAX_CALLS = 64;
const MAX_BYTES = 96 * 1024;
/** The time that a server has to end the array after its last answer. */
const END_MS = 1_000;

/**
 * Creates a function that sends the calls of one turn of the event loop to one endpoint in one POST, as a JSON-RPC batch. A single call is sent as
 * a plain request. Each call has its own deadline, signal and answer, and settles as soon as its answer has arrived.
 */
export function createBatches(clock: Clock): Batches {
  let queues: Queue[] = [];

  const flush = (): void => {
    const due = queues;
    queues = [];
    for (const queue of due) sendAll(queue, clock);
  };

  const queueFor = (target: Target, bearer: string | undefined): Queue => {
    const known = queues.find((queue) => queue.target === target && queue.bearer === bearer);
    if (known) return known;
    if (queues.length === 0) clock.defer(flush);
    const queue: Queue = { target, bearer, calls: [], sizeBytes: 0 };
    queues.push(queue);
    return queue;
  };

  return (target, id, body, options) =>
    new Promise((resolve, reject) => {
      if (options.signal?.aborted) return resolve(CANCELLED);
      const queue = queueFor(target, options.bearer);
      const sizeBytes = Buffer.byteLength(body) + 1;
      if (queue.calls.length === MAX_CALLS || queue.sizeBytes + sizeBytes > MAX_BYTES) sendAll(queue, clock);
      queue.calls.push({ id, body, sizeBytes, call: new Pending(options, clock, resolve, reject) });
      queue.sizeBytes += sizeBytes;
    });
}

/** Empties a queue and sends its calls, except those that have settled in the meantime. */
function sendAll(queue: Queue, clock: Clock): void {
  const calls = queue.calls.filter(({ call }) => !call.isSettled);
  queue.calls = [];
  queue.sizeBytes = 0;
  const [first] = calls;
  if (!first) return;
  const { pool, path } = queue.target;
  if (calls.length === 1) send(queue.target, "POST", first.body, first.call);
  else {
    const body = arrayOf(calls);
    pool.dispatch({ path, method: "POST", body, headers: jsonHeaders(first.call) }, new BatchExchange(calls, clock));
  }
}

/** Returns the bodies as one JSON array. They are written to the buffer directly, because a joined string would be copied once more. */
function arrayOf(calls: readonly Queued[]): Buffer {
  const buffer = Buffer.allocUnsafe(calls.reduce((sum, { sizeBytes }) => sum + sizeBytes, 1));
  let end = 0;
  for (const { body } of calls) {
    buffer[end] = end === 0 ? OPEN : COMMA;
    end += 1 + buffer.write(body, end + 1);
  }
  buffer[end] = CLOSE;
  return buffer;
}

/**
 * The handler that undici calls for one batch and its answers. An array with one element per line is read line by line as it arrives. Any other
 * body is read when it is complete.
 */
class BatchExchange implements Dispatcher.DispatchHandler {
  readonly #calls: ReadonlyMap<number, Pending>;
  /** The number of calls that have not settled. */
  #openCalls: number;
  readonly #lineLimitBytes: number;
  readonly #bodyLimitBytes: number;
  #form: "unknown" | "lines" | "document" = "unknown";
  /** The bytes received after the last complete line; all bytes while the form is not `lines`. */
  #chunks: Buffer[] = [];
  #unreadBytes = 0;
  #receivedBytes = 0;
  #status = 0;
  /** The elements that answer none of these calls, one per line. */
  #unmatchedText = "";
  /** Whether a line was not JSON. */
  #hasInvalidLine = false;
  #hasEnded = false;
  #controller: Dispatcher.DispatchController | null = null;
  #cancelEndTimer: Cancel | null = null;
  readonly #clock: Clock;

  constructor(calls: readonly Queued[], clock: Clock) {
    this.#clock = clock;
    this.#calls = new Map(calls.map(({ id, call }) => [id, call]));
    this.#openCalls = calls.length;
    const limits = calls.map(({ call }) => call.maxReplyBytes);
    this.#lineLimitBytes = Math.max(...limits);
    this.#bodyLimitBytes = limits.reduce((sum, limit) => sum + limit, 0);
    for (const { call } of calls) call.onSettled = this.#onSettled;
  }

  readonly #onSettled = (isAnswered: boolean): void => {
    this.#openCalls--;
    if (this.#openCalls > 0 || this.#hasEnded) return;
    if (isAnswered) this.#cancelEndTimer = this.#clock.after(END_MS, () => this.#abort());
    else this.#abort();
  };

  #abort(): void {
    this.#controller?.abort(new Error("all calls of the batch have ended"));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#openCalls === 0) this.#abort();
  }

  onResponseStart(_controller: Dispatcher.DispatchController, statusCode: number): void {
    this.#status = statusCode;
    if (statusCode < 200 || statusCode >= 300) this.#form = "document";
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#receivedBytes += chunk.length;
    this.#unreadBytes += chunk.length;
    this.#chunks.push(chunk);
    if (this.#form !== "document" && chunk.includes(NEWLINE)) this.#readLines();
    if (this.#receivedBytes > this.#bodyLimitBytes) this.#settleTooLarge(this.#bodyLimitBytes);
    else if (this.#form === "lines" && this.#unreadBytes > this.#lineLimitBytes)
      this.#settleTooLarge(this.#lineLimitBytes);
  }

  #settleTooLarge(limitBytes: number): void {
    const raw = joinChunks(this.#chunks).toString("utf8", 0, RAW_LIMIT);
    this.#chunks = [];
    for (const call of this.#calls.values()) call.settle(tooLarge(limitBytes, raw));
  }

  #readLines(): void {
    const bytes = joinChunks(this.#chunks);
    const end = bytes.lastIndexOf(NEWLINE);
    const lines = bytes.toString("utf8", 0, end).split("\n");
    const isFirst = this.#form === "unknown";
    if (isFirst && lines[0] !== "[") this.#form = "document";
    else if (isFirst && lines.length > 1) this.#form = this.#readLine(lines[1] ?? "") ? "lines" : "document";
    this.#chunks = [this.#form === "lines" ? bytes.subarray(end + 1) : bytes];
    if (this.#form !== "lines") return;
    this.#unreadBytes = bytes.length - end - 1;
    for (const line of isFirst ? lines.slice(2) : lines) {
      if (!this.#readLine(line)) this.#hasInvalidLine = true;
    }
  }

  /** Settles the call that a line answers. Returns false if the line is neither an element nor the end of the array. */
  #readLine(line: string): boolean {
    if (line === "]" || line === "") return true;
    const text = line.startsWith(",") ? line.slice(1) : line.endsWith(",") ? line.slice(0, -1) : line;
    const json = parsed(text);
    if (json) this.#settleCallOf(json.value, text);
    return json !== null;
  }

  /** Settles the call that an element answers; `text` is the element as JSON. */
  #settleCallOf(element: unknown, text: string): void {
    const id = typeof element === "object" && element !== null && "id" in element ? element.id : undefined;
    const call = typeof id === "number" ? this.#calls.get(id) : undefined;
    if (!call) this.#unmatchedText += this.#unmatchedText.length < RAW_LIMIT ? `${text.slice(0, RAW_LIMIT)}\n` : "";
    else if (text.length * MAX_UTF8_BYTES > call.maxReplyBytes && Buffer.byteLength(text) > call.maxReplyBytes) {
      call.settle(tooLarge(call.maxReplyBytes, text.slice(0, RAW_LIMIT)));
    } else call.settle(ok({ status: this.#status, text, json: { value: element } }));
  }

  onResponseEnd(): void {
    this.#hasEnded = true;
    this.#cancelEndTimer?.();
    if (this.#openCalls === 0) return;
    const text = joinChunks(this.#chunks).toString("utf8");
    const fallback = this.#form === "lines" ? this.#readLastLine(text) : this.#readDocument(text);
    for (const call of this.#calls.values()) call.settle(ok(fallback));
  }

  /** Reads the text after the last newline. Returns the reply for the calls without an answer. */
  #readLastLine(text: string): RawReply {
    const isElement = this.#readLine(text.endsWith("]") ? text.slice(0, -1) || "]" : text);
    const json = isElement && !this.#hasInvalidLine ? NO_ANSWER : null;
    return { status: this.#status, text: this.#unmatchedText, json };
  }

  /** Reads a body that is not in lines. Returns the reply for the calls without an answer: the body itself if it is not an array. */
  #readDocument(text: string): RawReply {
    const json = parsed(text);
    if (!Array.isArray(json?.value)) return { status: this.#status, text, json };
    for (const element of json.value) this.#settleCallOf(element, jsonOf(element));
    return { status: this.#status, text: this.#unmatchedText, json: NO_ANSWER };
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#hasEnded = true;
    this.#cancelEndTimer?.();
    for (const call of this.#calls.values()) endFailed(call, error);
  }
}

/** The parsed value for a call that the array does not answer. */
const NO_ANSWER = { value: undefined };
const [NEWLINE, OPEN, COMMA, CLOSE] = [10, 91, 44, 93];
/** The largest number of bytes of one UTF-16 code unit in UTF-8. */
const MAX_UTF8_BYTES = 3;

const tooLarge = (limitBytes: number, raw: string) =>
  err({ cause: "too_large", detail: `the answer is larger than ${limitBytes} bytes`, raw } as const);
