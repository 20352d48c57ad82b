import { Pool } from "undici";
import { initialize, initialized, type McpRequest, plainCall, post, sessionCall, statelessCall } from "./http.ts";

/**
 * A client that asks for the state of a match over and over, a process of its own: `plain|stateless|session ORIGIN PATH MATCH
 * IN_FLIGHT`, each call on a connection of its own. It calls from `go` to `pause`, and tells its count whatever it is asked.
 */
const [kind, origin = "", path = "", match_id = "", inFlight = ""] = process.argv.slice(2);
process.on("disconnect", () => process.exit());
const pool = new Pool(origin, { connections: Number(inFlight), pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
const request = await requestOf();
const { text } = await post(pool, request);
if (!text.includes('"structuredContent"')) throw new Error(`no state: ${text}`);
let count = 0;
let isGoing = false;
process.on("message", (question) => {
  if (question === "go") go();
  else if (question === "pause") isGoing = false;
  process.send?.(count);
});
process.send?.({ type: "ready", url: "" });

function go(): void {
  isGoing = true;
  for (let number = 0; number < Number(inFlight); number++) void loop();
}

async function requestOf(): Promise<McpRequest> {
  const args = { match_id };
  if (kind === "plain") return plainCall(path, "get_game_state", args);
  if (kind === "stateless") return statelessCall(path, "get_game_state", args);
  const { session } = await post(pool, initialize(path));
  await post(pool, initialized(path, session));
  return sessionCall(path, session, "get_game_state", args);
}

async function loop(): Promise<void> {
  while (isGoing) {
    await post(pool, request);
    count++;
  }
}
