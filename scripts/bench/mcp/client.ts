import { Pool } from "undici";
import { initialize, initialized, type McpRequest, plainCall, post, sessionCall, statelessCall } from "./http.ts";

/**
 * A process that requests the state of a match repeatedly: `plain|stateless|session ORIGIN PATH MATCH IN_FLIGHT`. Each concurrent call has a separate
 * connection. It calls from the IPC message `go` to the message `pause`, and answers every message with the number of calls so far.
 */
const [kind, origin = "", path = "", match_id = "", inFlight = ""] = process.argv.slice(2);
process.on("disconnect", () => process.exit());
const pool = new Pool(origin, { connections: Number(inFlight), pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
const request = await createRequest();
const { text } = await post(pool, request);
if (!text.includes('"structuredContent"')) throw new Error(`the answer contains no state: ${text}`);
let count = 0;
let isRunning = false;
process.on("message", (question) => {
  if (question === "go") startCalls();
  else if (question === "pause") isRunning = false;
  process.send?.(count);
});
process.send?.({ type: "ready", url: "" });

function startCalls(): void {
  isRunning = true;
  for (let number = 0; number < Number(inFlight); number++) void callRepeatedly();
}

async function createRequest(): Promise<McpRequest> {
  const args = { match_id };
  if (kind === "plain") return plainCall(path, "get_game_state", args);
  if (kind === "stateless") return statelessCall(path, "get_game_state", args);
  const { session } = await post(pool, initialize(path));
  await post(pool, initialized(path, session));
  return sessionCall(path, session, "get_game_state", args);
}

async function callRepeatedly(): Promise<void> {
  while (isRunning) {
    await post(pool, request);
    count++;
  }
}
