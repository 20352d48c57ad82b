import { z } from "zod";
import type { Clock } from "#shared/lib/clock.ts";
import type { Result } from "#shared/lib/result.ts";
import { parsedJson } from "#shared/lib/text.ts";
import type { McpHandler } from "#shared/rpc/jsonrpc/http-context.ts";
import { type CallFault, operatorText, type RawReply } from "#shared/rpc/peer/call.ts";
import { asRefused, type Peers } from "#shared/rpc/peer/peer.ts";
import { StartError } from "#shared/runtime/process/exit.ts";
import type { KeptRegistration } from "#shared/runtime/registration.ts";

interface InboxOptions extends KeptRegistration {
  /** The URL of the inbox and the token for it, from the answer to the last registration. */
  readonly inbox: () => Inbox | null;
  /** Answers one JSON-RPC request of the inbox. */
  readonly handler: McpHandler;
  readonly peers: Pick<Peers, "post">;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Prints a warning. */
  readonly warn: (line: string) => void;
}

interface Inbox {
  readonly url: string;
  readonly token: string;
}

/** Short waits: a connection that was lost without a message is noticed after `POLL_MS`, and a move has a deadline of seconds. */
const WAIT_S = 5;
const POLL_MS = 8_000;
/** An inbox holds 1 MB of open requests. */
const REPLY_BYTES = 2 * 1024 * 1024;
/** Referees accept answers of 256 kB, and the manager accepts 1 MB of answers in one poll. */
const MAX_ANSWER_BYTES = 256 * 1024;
const MAX_SENT_BYTES = 768 * 1024;
/**
 * The time for which an answer is sent again that the manager has ignored. The inbox may have moved: for a moment two managers of a run can both take
 * the polls, and only one of them has the request.
 */
const IGNORED_MS = 10_000;
const FIRST_RETRY_MS = 50;
const MAX_RETRY_MS = 1_000;

const Page = z.object({
  next: z.int(),
  requests: z.array(z.looseObject({ id: z.int() })),
  ignored: z.array(z.unknown()).default([]),
});
type Page = z.infer<typeof Page>;

/**
 * Polls an inbox and answers its requests until `signal` is aborted. Requests are answered concurrently, and each answer is sent as soon as it is
 * ready: a new poll carries it, which ends the poll that waits. Answers are kept until a poll that carried them was answered, so an interrupted
 * connection loses none. An answer that the manager has ignored is kept for ten seconds. Registers again if the manager does not know the player.
 * Rejects with StartError if the manager does not accept the token of the player.
 */
export async function pollInbox(options: InboxOptions): Promise<void> {
  const { signal, clock, warn } = options;
  let state = newState();
  let failures = 0;
  while (!signal.aborted) {
    const inbox = options.inbox();
    if (inbox === null) throw new StartError("the manager has no inboxes any more: join without --pull");
    const renewals = options.renewals();
    const outcome = await pollOnce(options, inbox, state);
    if (signal.aborted) return;
    if (outcome.kind === "rejected") {
      await options.renew();
      if (signal.aborted) return;
      if (options.renewals() === renewals) throw new StartError(outcome.why);
      state = newState();
      continue;
    }
    if (outcome.kind === "continue") {
      if (failures >= REPORT_AFTER) warn(`the manager answers again at ${inbox.url}`);
      failures = 0;
      continue;
    }
    failures++;
    if (failures === REPORT_AFTER) warn(`no answer from the inbox ${inbox.url} (${outcome.why}); trying again`);
    await clock.pause(Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(failures, 10)), signal);
  }
}

/** The number of consecutive failed polls after which a warning is printed. */
const REPORT_AFTER = 5;

interface PollState {
  /** The number that the next poll passes as `after`. */
  after: number;
  /** The answers that no answered poll has carried yet, as JSON texts by the ids of their requests. */
  readonly answers: Map<number, string>;
  /** The monotonic times at which the manager has first ignored an answer, by the ids of the requests. */
  readonly ignoredAt: Map<number, number>;
  /** The ids of the requests that are being answered. */
  readonly underway: Set<number>;
  /** Ends the wait for the poll, because another answer is ready. */
  wake: () => void;
}

const newState = (): PollState => ({
  after: 0,
  answers: new Map(),
  ignoredAt: new Map(),
  underway: new Set(),
  wake: () => {},
});

type Outcome = { readonly kind: "continue" } | { readonly kind: "failed" | "rejected"; readonly why: string };

const CONTINUE: Outcome = { kind: "continue" };

/** Sends one poll. Resolves when it is answered or has failed, or when another answer is ready for the next poll. */
function pollOnce(options: InboxOptions, inbox: Inbox, state: PollState): Promise<Outcome> {
  const { peers, signal } = options;
  const sent = answersToSend(state);
  const url = `${inbox.url}?after=${state.after}&wait_s=${WAIT_S}`;
  const call = { timeoutMs: POLL_MS, maxReplyBytes: REPLY_BYTES, bearer: inbox.token, signal };
  const { promise: ready, resolve } = Promise.withResolvers<Outcome>();
  state.wake = () => resolve(CONTINUE);
  const polled = peers.post(url, `[${[...sent.values()].join(",")}]`, call).catch(asRefused);
  return Promise.race([polled.then((reply) => received(options, state, sent, reply)), ready]);
}

/** Returns the oldest answers that fit into one poll. */
function answersToSend({ answers }: PollState): ReadonlyMap<number, string> {
  let sizeBytes = 0;
  return new Map(
    [...answers].filter(([, text]) => {
      sizeBytes += Buffer.byteLength(text) + 1;
      return sizeBytes <= MAX_SENT_BYTES;
    }),
  );
}

function received(
  options: InboxOptions,
  state: PollState,
  sent: ReadonlyMap<number, string>,
  reply: Result<RawReply, CallFault>,
): Outcome {
  if (!reply.ok) return { kind: "failed", why: operatorText(reply.error) };
  const { status, text } = reply.value;
  if (status === 401 || status === 404) {
    const why = `the manager no longer accepts the token of this player (HTTP ${status}): register again`;
    return { kind: "rejected", why };
  }
  // A newer poll of this program has replaced the poll, or another program polls with the same token.
  if (status === 409) return { kind: "failed", why: "another program polls this inbox" };
  const page = status === 200 ? Page.safeParse(parsedJson(text)).data : undefined;
  if (!page) return { kind: "failed", why: `HTTP ${status}` };
  forgetTaken(state, sent, page, options.clock.monotonic());
  state.after = page.next;
  for (const request of page.requests) void answerRequest(options, state, request);
  return CONTINUE;
}

/** Forgets the answers that the manager has taken, and those that it has ignored for too long. */
function forgetTaken(
  { answers, ignoredAt }: PollState,
  sent: ReadonlyMap<number, string>,
  { ignored }: Page,
  nowMs: number,
): void {
  for (const [id, answer] of sent) {
    if (answers.get(id) !== answer) continue;
    const firstMs = ignoredAt.get(id) ?? nowMs;
    if (ignored.includes(id) && nowMs - firstMs < IGNORED_MS) ignoredAt.set(id, firstMs);
    else {
      answers.delete(id);
      ignoredAt.delete(id);
    }
  }
}

/** Answers a request of the inbox and has the answer sent. A request that arrives again while it is answered is ignored. */
async function answerRequest(
  { handler }: InboxOptions,
  state: PollState,
  request: { readonly id: number },
): Promise<void> {
  const { id } = request;
  if (state.underway.has(id) || state.answers.has(id)) return;
  state.underway.add(id);
  const { body } = await handler(JSON.stringify(request), FROM_INBOX);
  state.underway.delete(id);
  const isTooLarge = Buffer.byteLength(body) > MAX_ANSWER_BYTES;
  state.answers.set(id, isTooLarge ? JSON.stringify({ jsonrpc: "2.0", id, error: TOO_LARGE }) : body);
  state.wake();
}

const TOO_LARGE = { code: -32603, message: "the answer is too large" };

/** The caller of a request of the inbox. Its signature is the only proof of its origin. */
const FROM_INBOX = { bearer: null, remoteAddress: "inbox" };
