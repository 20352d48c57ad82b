import type { Clock } from "../../lib/clock.ts";
import type { HttpReply } from "./http-context.ts";

/**
 * Returns the answer to a batch: a JSON array with one element per line, in the order in which the replies are ready. `body` contains the elements
 * of the first turn of the event loop in which a reply was ready. `more` contains the other elements, turn by turn, so that a slow call delays no
 * other. A line begins with the comma that separates it from the previous element, so that each line is complete when it is written. If all replies
 * are empty, the status is 202 and the body is empty.
 */
export async function batchReply(replies: readonly Promise<HttpReply>[], clock: Clock): Promise<HttpReply> {
  const elements = elementsOf(replies, clock);
  const first = await elements.next();
  if (first.elements.length === 0) return { status: 202, body: "" };
  const body = `[\n${first.elements.join("\n,")}\n`;
  return first.isLast ? { status: 200, body: `${body}]` } : { status: 200, body, more: remainingParts(elements) };
}

async function* remainingParts(elements: Elements): AsyncGenerator<string> {
  for (let isLast = false; !isLast; ) {
    const part = await elements.next();
    isLast = part.isLast;
    yield part.elements.map((element) => `,${element}\n`).join("") + (isLast ? "]" : "");
  }
}

interface Elements {
  /** Resolves at the end of the next turn in which elements were ready, or immediately when the last reply is ready. */
  next(): Promise<{ readonly elements: readonly string[]; readonly isLast: boolean }>;
}

function elementsOf(replies: readonly Promise<HttpReply>[], clock: Clock): Elements {
  let ready: { readonly index: number; readonly body: string }[] = [];
  let pendingCount = replies.length;
  let resolveNext = (): void => {};
  let isReady = false;
  const release = (): void => {
    isReady = true;
    resolveNext();
  };
  for (const [index, reply] of replies.entries()) {
    void reply.then(({ body }) => {
      pendingCount--;
      if (body !== "" && ready.push({ index, body }) === 1 && pendingCount > 0) clock.defer(release);
      if (pendingCount === 0) release();
    });
  }
  return {
    async next() {
      if (!isReady) await new Promise<void>((resolve) => (resolveNext = resolve));
      const elements = ready.toSorted((a, b) => a.index - b.index).map(({ body }) => body);
      ready = [];
      isReady = false;
      return { elements, isLast: pendingCount === 0 };
    },
  };
}
