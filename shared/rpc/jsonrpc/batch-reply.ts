import type { Clock } from "../../lib/clock.ts";
import type { HttpReply } from "./http.ts";

/**
 * The answer to a batch: a JSON array with one element a line, in the order in which they are ready. What is ready in the first turn of the
 * event loop that has any is the body, what is not follows turn by turn: a slow call holds up no other. A comma begins the next element's
 * line, so that each line is whole as soon as it is written. Without an element: 202.
 */
export async function asTheyCome(replies: readonly Promise<HttpReply>[], clock: Clock): Promise<HttpReply> {
  const lines = linesOf(replies, clock);
  const first = await lines.next();
  if (first.elements.length === 0) return { status: 202, body: "" };
  const body = `[\n${first.elements.join("\n,")}\n`;
  return first.isLast ? { status: 200, body: `${body}]` } : { status: 200, body, more: rest(lines) };
}

async function* rest(lines: Lines): AsyncGenerator<string> {
  for (let isLast = false; !isLast; ) {
    const part = await lines.next();
    isLast = part.isLast;
    yield part.elements.map((element) => `,${element}\n`).join("") + (isLast ? "]" : "");
  }
}

interface Lines {
  /** Resolves at the end of the next turn in which elements were ready, and with the last one at once. */
  next(): Promise<{ readonly elements: readonly string[]; readonly isLast: boolean }>;
}

function linesOf(replies: readonly Promise<HttpReply>[], clock: Clock): Lines {
  let ready: { readonly index: number; readonly body: string }[] = [];
  let left = replies.length;
  let wake = (): void => {};
  let isDue = false;
  const due = (): void => {
    isDue = true;
    wake();
  };
  for (const [index, reply] of replies.entries()) {
    void reply.then(({ body }) => {
      left--;
      if (body !== "" && ready.push({ index, body }) === 1 && left > 0) clock.defer(due);
      if (left === 0) due();
    });
  }
  return {
    async next() {
      if (!isDue) await new Promise<void>((resolve) => (wake = resolve));
      const elements = ready.toSorted((a, b) => a.index - b.index).map(({ body }) => body);
      ready = [];
      isDue = false;
      return { elements, isLast: left === 0 };
    },
  };
}
