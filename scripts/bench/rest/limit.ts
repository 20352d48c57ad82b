import { createServer, type ServerResponse } from "node:http";
import { openSqlite } from "#shared/store/sqlite.ts";

/**
 * A minimal server that commits before it answers, in a separate process: `PORT FILE ROW_BYTES REPLY_BYTES`. It measures the limit of a session host. It
 * parses each body, inserts one row and answers. The requests of one turn of the event loop share one transaction. Of this project it uses only the
 * pragmas of SQLite.
 */
const [port, file = "", rowBytes, replyBytes] = process.argv.slice(2);
process.on("disconnect", () => process.exit());

const db = openSqlite(file, "CREATE TABLE log (body TEXT NOT NULL) STRICT");
const begin = db.prepare("BEGIN IMMEDIATE");
const insert = db.prepare("INSERT INTO log (body) VALUES (?)");
const commit = db.prepare("COMMIT");
const row = "x".repeat(Number(rowBytes));
const frame = JSON.stringify({ state: "" }).length;
const reply = { state: "x".repeat(Math.max(0, Number(replyBytes) - frame)) };
let waiting: ServerResponse[] = [];

function commitAll(): void {
  const group = waiting;
  waiting = [];
  begin.run();
  for (const _ of group) insert.run(row);
  commit.run();
  for (const response of group) {
    const body = JSON.stringify(reply);
    response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) });
    response.end(body);
  }
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    JSON.parse(Buffer.concat(chunks).toString());
    if (waiting.push(response) === 1) setImmediate(commitAll);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(Number(port), "127.0.0.1", () => process.send?.({ type: "ready", url: `http://127.0.0.1:${port}` }));
