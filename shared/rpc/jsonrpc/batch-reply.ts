import type { Clock } from "../../lib/clock.ts";
import type { HttpReply } from "./http.ts";

/**
 * Returns the reply to a batch: a JSON array with one element a line, in the order in which the elements are ready. The body holds the
 * elements of the first turn of the event loop that has any. The others follow turn by turn, so a slow call does not delay the others. A
 * comma is written at the beginning of a line, so each line is complete when it is written. A batch without elements is answered with 202.
 */
export async function streamReplies(replies: readonly Promise<HttpReply>[], clock: Clock): Promise<HttpReply> {
  const lines = linesOf(replies, clock);
  const first = await lines.next();
  if (first.elements.length === 0) return { status: 202, body: "" };
  const body = `[\n${first.elements.join("\n,")}\n`;
  return first.isLast ? { status: 200, body: `${body}]` } : { status: 200, body, more: laterLines(lines) };
}

async function* laterLines(lines: Lines): AsyncGenerator<string> {
  for (let isLast = false; !isLast; ) {
    const part = await lines.next();
    isLast = part.isLast;
    yield part.elements.map((element) => `,${element}\n`).join("") + (isLast ? "]" : "");
  }
}

interface Lines {
  /** Resolves at the end of the next turn in which elements are ready; immediately with the last one. */
  next(): Promise<{ readonly elements: readonly string[]; readonly isLast: boolean }>;
}

function linesOf(replies: readonly Promise<HttpReply>[], clock: Clock): Lines {
  let ready: { readonly index: number; readonly body: string }[] = [];
  let unreadyCount = replies.length;
  let wake = (): void => {};
  let isDue = false;
  const due = (): void => {
    isDue = true;
    wake();
  };
  for (const [index, reply] of replies.entries()) {
    void reply.then(({ body }) => {
      unreadyCount--;
      if (body !== "" && ready.push({ index, body }) === 1 && unreadyCount > 0) clock.defer(due);
      if (unreadyCount === 0) due();
    });
  }
  return {
    async next() {
      if (!isDue) await new Promise<void>((resolve) => (wake = resolve));
      const elements = ready.toSorted((a, b) => a.index - b.index).map(({ body }) => body);
      ready = [];
      isDue = false;
      return { elements, isLast: unreadyCount === 0 };
    },
  };
}
