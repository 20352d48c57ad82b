import { resolve } from "node:path";
import { Writable } from "node:stream";
import { mcpStdio } from "#shared/rpc/stdio/stdio.ts";
import { runAgentProcess } from "#shared/runtime/agent.ts";
import { startMcpHosts } from "./mcp-hosts.ts";

interface McpFlags {
  /** The endpoint to which messages are forwarded; without it the command hosts games. */
  readonly url?: string;
  readonly port?: number;
  readonly data: string;
}

/** `league mcp`: runs an MCP server on stdin and stdout until stdin ends. */
export function mcp(flags: McpFlags): Promise<void> {
  const output = takeStdout();
  const dataFolder = flags.url === undefined ? resolve(flags.data) : null;
  return runAgentProcess("mcp", dataFolder, async (self) => {
    const hosts = dataFolder === null ? null : await startMcpHosts(dataFolder, flags.port, self);
    const url = flags.url ?? `${hosts?.url}/mcp`;
    const tell = (line: string): void => self.say(line);
    const stdio = mcpStdio({ url, serverFor: hosts?.serverFor, input: process.stdin, output, tell, clock: self.clock });
    if (hosts) self.say(`serving ${url} on stdio; its pages are at ${new URL("/", url)}`);
    else self.say(`forwarding stdio to ${url}`);
    return {
      ended: stdio.ended,
      async stop() {
        await stdio.close();
        await hosts?.stop();
      },
    };
  });
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
