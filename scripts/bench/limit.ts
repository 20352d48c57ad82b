import { createServer } from "node:http";
import { Pool } from "undici";

/**
 * A minimal server or client in a separate process, which measures the limit of HTTP on this machine. `echo PORT REPLY_BYTES` answers every POST with
 * this number of bytes. `calls REQUEST_BYTES CONNECTIONS IN_FLIGHT URL…` calls such servers continuously, and answers each IPC message with the number
 * of calls.
 */
const [mode, ...args] = process.argv.slice(2);
process.on("disconnect", () => process.exit());
if (mode === "echo") serve(Number(args[0]), Number(args[1]));
else callServers(Number(args[0]), Number(args[1]), Number(args[2]), args.slice(3));

/** Returns a JSON-RPC message of this size. */
function messageOf(bytes: number): string {
  const frame = JSON.stringify({ jsonrpc: "2.0", id: 1, text: "" });
  return JSON.stringify({ jsonrpc: "2.0", id: 1, text: "x".repeat(Math.max(0, bytes - frame.length)) });
}

function serve(port: number, bytes: number): void {
  const body = messageOf(bytes);
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => response.writeHead(200, headers).end(body));
  });
  server.keepAliveTimeout = 60_000;
  server.listen(port, "127.0.0.1", () => process.send?.({ type: "ready", url: `http://127.0.0.1:${port}` }));
}

function callServers(bytes: number, connections: number, inFlight: number, urls: readonly string[]): void {
  const body = messageOf(bytes);
  const headers = { "content-type": "application/json" };
  const pools = urls.map((url) => new Pool(url, { connections, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 }));
  let count = 0;
  const callNext = (pool: Pool): void => {
    const chunks: Buffer[] = [];
    pool.dispatch(
      { path: "/mcp", method: "POST", body, headers },
      {
        onRequestStart() {},
        onResponseStart() {},
        onResponseData: (_controller, chunk) => void chunks.push(chunk),
        onResponseEnd() {
          count++;
          callNext(pool);
        },
        onResponseError(_controller, error) {
          throw error; // a rate must not include failed calls
        },
      },
    );
  };
  for (let index = 0; index < inFlight; index++) callNext(pools[index % pools.length] as Pool);
  process.on("message", () => process.send?.(count));
  process.send?.({ type: "ready", url: "" });
}
