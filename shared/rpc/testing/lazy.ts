import { closeSync, openSync } from "node:fs";
import { systemClock } from "../../lib/clock.ts";
import { systemIds } from "../../lib/ids.ts";
import { rateLimiter } from "../jsonrpc/rate-limit.ts";
import { mcpEndpoint } from "../mcp/endpoint.ts";

/** Asks for what is loaded with its first use when this process may open no more files, and again when some were closed; prints what came of it. */
const limit = rateLimiter(1);
const surface = { serverInfo: { name: "test", version: "1.0.0" }, tools: [], resources: [], templates: [] };
const { sessions, close } = mcpEndpoint(surface, () => {}, systemClock, systemIds);
const came = async (): Promise<readonly string[]> => {
  const outcomes = await Promise.allSettled([limit("somebody"), sessions()]);
  return outcomes.map(({ status }) => status);
};
const files: number[] = [];
try {
  for (;;) files.push(openSync("/dev/null", "r"));
} catch {
  // that was the last
}
const without = await came();
for (const file of files) closeSync(file);
process.stdout.write(JSON.stringify({ without, later: await came() }));
await close();
