import { systemClock } from "#shared/lib/clock.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { newEnvelope } from "#shared/protocol/envelope.ts";
import { listenHttp } from "#shared/rpc/http/http-server.ts";
import { jsonRpc } from "#shared/rpc/jsonrpc/json-rpc.ts";
import { createPeers } from "#shared/rpc/peer/peer.ts";

/**
 * An endpoint or a client of this project in a separate process, without a game. `serve PORT REPLY_BYTES` answers every call with this number of bytes.
 * `call post|socket REQUEST_BYTES IN_FLIGHT URL…` calls such endpoints continuously, and answers each IPC message with the number of calls.
 */
const [mode, ...args] = process.argv.slice(2);
process.on("disconnect", () => process.exit());
if (mode === "serve") await serve(Number(args[0]), Number(args[1]));
else callEndpoints(args[0] === "socket", Number(args[1]), Number(args[2]), args.slice(3));

/** Returns an envelope whose JSON-RPC message has about this size. */
function envelopeOf(type: "MOVE_REQUEST" | "MOVE_RESPONSE", sender: string, bytes: number) {
  const options = { messageId: systemIds.uuid(), at: systemClock.iso() };
  const payload = (text: string) => newEnvelope(type, sender, { match_id: "R1M1", tick: 0, text }, options);
  return payload("x".repeat(Math.max(0, bytes - JSON.stringify(payload("")).length - 100)));
}

async function serve(port: number, bytes: number): Promise<void> {
  const envelope = envelopeOf("MOVE_RESPONSE", "player:P01", bytes);
  const answer = () => ({ content: [{ type: "text", text: JSON.stringify(envelope) }] });
  const fail = (fault: unknown): never => {
    throw new Error(JSON.stringify(fault));
  };
  const rpc = jsonRpc({ "tools/call": answer }, fail);
  const log = { warn: fail, error: fail };
  const place = { log, host: "127.0.0.1", ports: [port], isReady: () => true, web: () => Promise.reject() };
  const listening = await listenHttp({ ...place, handler: rpc.answer }, systemClock, () => ({}));
  if (!listening.ok) throw new Error(listening.error);
  process.send?.({ type: "ready", url: `${listening.value.url}/mcp` });
}

function callEndpoints(socket: boolean, bytes: number, inFlight: number, urls: readonly string[]): void {
  const peers = createPeers({ clock: systemClock });
  const envelope = envelopeOf("MOVE_REQUEST", "referee:REF01", bytes);
  let count = 0;
  const callNext = async (url: string): Promise<never> => {
    for (;;) {
      const reply = await peers.message(url, envelope, { timeoutMs: 30_000, socket });
      if (!reply.ok) throw new Error(reply.error.detail); // a rate must not include failed calls
      count++;
    }
  };
  for (let index = 0; index < inFlight; index++) void callNext(urls[index % urls.length] ?? "");
  process.on("message", () => process.send?.(count));
  process.send?.({ type: "ready", url: "" });
}
