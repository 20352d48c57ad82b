import { HOST, type Server } from "./connection.ts";
import { type Scheduler, settled } from "./scheduler.ts";

/** A request without an answer after this number of events is given up. */
const MAX_STEPS = 100_000;

/** Sends a request to a server, without delays and losses. Resolves with its answer; null without an answer. */
export async function ask({ options }: Server, scheduler: Scheduler, body: string): Promise<string | null> {
  let answer: string | null = null;
  const http = { bearer: null, remoteAddress: HOST, abortSignal: () => new AbortController().signal };
  void options.handler(body, http).then((reply) => {
    answer = reply.body;
  });
  await settled();
  for (let steps = 0; answer === null && steps < MAX_STEPS && (await scheduler.step()); steps++);
  return answer;
}
