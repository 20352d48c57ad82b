import { createServer } from "node:http";
import { JsonPost } from "#shared/rpc/llm/completions.ts";
import { mcpEndpoint } from "#shared/rpc/mcp/mcp-endpoint.ts";
import { systemClock } from "../../lib/clock.ts";
import { systemIds } from "../../lib/ids.ts";
import { rateLimiter } from "../jsonrpc/rate-limit.ts";
import { listenOnLoopback } from "./loopback.ts";
import { useUpFiles } from "./no-free-files.ts";

/** Uses lazily loaded modules while this process can open no more files, and again after files are closed. Prints whether they were loaded. */
const limit = rateLimiter(1);
const surface = { serverInfo: { name: "test", version: "1.0.0" }, tools: [], resources: [], templates: [] };
const { sessions, close } = mcpEndpoint(surface, () => {}, systemClock, systemIds);
const server = createServer((_request, response) => void response.end("{}"));
const post = new JsonPost(`http://127.0.0.1:${await listenOnLoopback(server)}/`, null);
const signal = new AbortController().signal;
const load = async (): Promise<readonly string[]> => {
  const outcomes = await Promise.allSettled([limit("10.0.0.1"), sessions(), post.send({}, signal)]);
  return outcomes.map(({ status }) => status);
};
const closeFiles = await useUpFiles();
const without = await load();
await closeFiles();
process.stdout.write(JSON.stringify({ without, later: await load() }));
await close();
await post.close();
server.close();
