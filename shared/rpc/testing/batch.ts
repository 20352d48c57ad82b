import type { CallOptions } from "../peer/pending.ts";
import { rpcResponse, textResult } from "./json-rpc.ts";
import { type Call, message, REPLY } from "./peer.ts";

/** Sends `count` messages in one turn of the event loop. */
export const batched = (url: string, count: number, options: Partial<CallOptions> = {}) =>
  Promise.all(Array.from({ length: count }, () => message(url, { batch: true, ...options })));

/** Returns the answer to the call with this id, as text. */
export const answerTo = (id: unknown): string => JSON.stringify(rpcResponse(id, textResult(REPLY)));

/** Returns answers as an endpoint of this project writes them: one a line. */
export const inLines = (answers: readonly string[], end = "]"): string => `[\n${answers.join("\n,")}\n${end}`;

export const bodiesOf = (calls: readonly Call[]): unknown[] => calls.map(({ body }) => body);

/** Returns the ids of the calls in one POST. */
export const idsOf = ({ body }: Call): number[] =>
  ((Array.isArray(body) ? body : [body]) as { id: number }[]).map(({ id }) => id);

/** Writes until the caller closes the connection. */
export function endless({ response }: Call, text: string, begin = ""): void {
  const more = (): void => {
    while (!response.destroyed && response.write(text));
  };
  response.write(begin);
  response.on("drain", more);
  more();
}
