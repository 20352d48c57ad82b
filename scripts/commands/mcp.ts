import { resolve } from "node:path";
import { Writable } from "node:stream";
import { type AgentProcess, type RunningAgent, runAgentProcess } from "#shared/runtime/agent.ts";
import { loadGames } from "#shared/runtime/game-files.ts";

interface McpFlags {
  /** The endpoint to which messages are forwarded; without it the command hosts games. */
  readonly url?: string;
  readonly port?: number;
  readonly data: string;
  /** Files of games. */
  readonly game: readonly string[];
}

/** `league mcp`: runs an MCP server on stdin and stdout until stdin ends. */
export function mcp({ url, port, data, game }: McpFlags): Promise<void> {
  const output = takeStdout();
  if (url !== undefined) return runAgentProcess("mcp", null, (self) => bridgeTo(url, output, self));
  const dataFolder = resolve(data);
  return runAgentProcess("mcp", dataFolder, async (self) => {
    await loadGames(game);
    return hostGames(dataFolder, port, output, self);
  });
}

/** Hosts games in this process and serves their tools on stdio. */
async function hostGames(
  dataFolder: string,
  port: number | undefined,
  output: Writable,
  self: AgentProcess,
): Promise<RunningAgent> {
  const { startMcpHosts } = await import("./mcp-hosts.ts");
  const { serveLocally } = await import("#shared/rpc/stdio/local-server.ts");
  const hosts = await startMcpHosts(dataFolder, port, self);
  const server = serveLocally({
    service: hosts.service,
    http: hosts.caller,
    input: process.stdin,
    output,
    clock: self.clock,
    onError: (error) => self.log.error({ err: error }, "internal error"),
  });
  hosts.watch(server.notify);
  self.say(`serving ${hosts.url}/mcp on stdio; its pages are at ${hosts.url}/`);
  return {
    ended: server.ended,
    async stop() {
      await server.close();
      await hosts.stop();
    },
  };
}

/** Forwards messages between stdio and an MCP server over HTTP. */
async function bridgeTo(url: string, output: Writable, self: AgentProcess): Promise<RunningAgent> {
  const { Bridge } = await import("#shared/rpc/stdio/bridge.ts");
  const say = (line: string): void => self.say(line);
  const bridge = new Bridge({ input: process.stdin, output, url, say, clock: self.clock });
  await bridge.start();
  self.say(`forwarding stdio to ${url}`);
  return { ended: bridge.ended, stop: () => bridge.close() };
}

/** Returns a stream to stdout for protocol messages, and redirects all other output to stderr. */
function takeStdout(): Writable {
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write;
  stderr.on("error", () => {}); // a client that exits closes both streams
  return new Writable({
    decodeStrings: false,
    write: (text: string, _encoding, written) => void write(text, written),
  });
}
