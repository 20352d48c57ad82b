import { resolve } from "node:path";
import { Writable } from "node:stream";
import { Timeouts } from "#shared/protocol/timeouts.ts";
import { mcpStdio } from "#shared/rpc/mcp-stdio.ts";
import { type AgentProcess, type RunningAgent, runAgentProcess } from "#shared/runtime/agent.ts";
import { StartError } from "#shared/runtime/exit.ts";
import { PORT_RANGES, portsFrom } from "#shared/runtime/ports.ts";

export interface McpFlags {
  /** The endpoint to bridge to; without one the command hosts games itself. */
  readonly url?: string;
  readonly port?: number;
  readonly data: string;
}

const DAY_MS = 86_400_000;

/** `league mcp`: an MCP server on stdin and stdout, until stdin ends. */
export function mcp(flags: McpFlags): Promise<void> {
  const output = takeStdout();
  const dataFolder = flags.url === undefined ? resolve(flags.data) : null;
  return runAgentProcess("mcp", dataFolder, async (self) => {
    const host = dataFolder === null ? null : await startHost(dataFolder, flags.port, self);
    const url = flags.url ?? `${host?.url}/mcp`;
    const stdio = mcpStdio({ url, input: process.stdin, output, tell: (line) => self.say(line) });
    if (host) self.say(`serving ${url} on stdio; its pages are at ${new URL("/", url)}`);
    else self.say(`stdio leads to ${url}`);
    return {
      ended: stdio.ended,
      async stop() {
        await stdio.close();
        await host?.stop();
      },
    };
  });
}

/** A session host in this process, on the first port that is free together with its data file. */
async function startHost(
  dataFolder: string,
  wanted: number | undefined,
  self: AgentProcess,
): Promise<RunningAgent & { readonly url: string }> {
  let refused = new StartError("no port to listen on");
  for (const port of wanted === undefined ? portsFrom(PORT_RANGES.referee) : [wanted]) {
    try {
      return await startHostAt(port, dataFolder, self);
    } catch (thrown) {
      if (!(thrown instanceof StartError)) throw thrown;
      refused = thrown;
    }
  }
  throw refused;
}

async function startHostAt(
  port: number,
  dataFolder: string,
  self: AgentProcess,
): Promise<RunningAgent & { readonly url: string }> {
  const { referee_register_ms, match_result_report_ms } = Timeouts.parse({});
  const { startReferee } = await import("../referee/service.ts"); // a bridge does without
  let url = "";
  const host = await startReferee(
    {
      name: null,
      host: "127.0.0.1",
      ports: [port],
      manager: null,
      expireAfterMs: DAY_MS,
      maxConcurrentMatches: 64,
      registerTimeoutMs: referee_register_ms,
      reportTimeoutMs: match_result_report_ms,
      limitLoopback: false,
      bots: new Map(),
      isTerminal: false,
      dataFolder,
    },
    {
      ...self,
      say: (line) => self.log.info(line),
      report(report) {
        if (report.type === "ready") url = report.url;
      },
    },
  );
  return { ...host, url };
}

/** The way to the client. From here on whatever else is written to stdout goes to stderr: it would not be protocol. */
function takeStdout(): Writable {
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write;
  stderr.on("error", () => {}); // a client that has gone takes both away
  return new Writable({
    decodeStrings: false,
    write: (text: string, _encoding, written) => void write(text, written),
  });
}
