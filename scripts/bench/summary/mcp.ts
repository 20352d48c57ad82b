import { WAITERS } from "../mcp/waiting.ts";
import type { Round } from "../rates.ts";
import type { MedianOf, RateRow, Summary } from "./figures.ts";

/** The rows of `get_game_state` calls. */
export function mcpRows(medianOf: MedianOf, rateRow: RateRow): Summary["rows"] {
  const bytes = medianOf(({ mcp }) => mcp.stateBytes).toFixed(0);
  return [
    rateRow("k  get_game_state, MCP 2026-07-28", ({ mcp }) => mcp.stateless, `a state of ${bytes} B`),
    rateRow("k  get_game_state, plain JSON", ({ mcp }) => mcp.plain),
    rateRow("l  the SDK's server, 2026-07-28", ({ mcp }) => mcp.sdkStateless, "the same state from memory"),
    rateRow("l  the SDK's server, session", ({ mcp }) => mcp.sdkSession),
  ];
}

/** The aims for waiting clients. A client with a session has two connections: its event stream and the call that waits. */
export function waitingAims(medianOf: MedianOf): Summary["aims"] {
  const aim = (kind: keyof Round["waiting"], name: string): Summary["aims"][number] => {
    const heap = medianOf(({ waiting }) => waiting[kind].heap);
    const rss = medianOf(({ waiting }) => waiting[kind].rss);
    const cpu = medianOf(({ waiting }) => waiting[kind].cpu);
    return {
      aim: `m  at most 100 kB for each of ${WAITERS} waiting clients, ${name}`,
      measured: `${(heap / 1024).toFixed(1)} kB after a forced garbage collection, ${(rss / 1024).toFixed(1)} kB resident; in total ${(cpu * 1_000).toFixed(1)} ms of CPU per second`,
      isMet: heap <= 100 * 1024,
    };
  };
  return [aim("session", "sessions"), aim("stateless", "2026-07-28")];
}

/** The aim for `get_game_state` calls relative to a server of the SDK. */
export function mcpAim(medianOf: MedianOf): Summary["aims"][number] {
  const ratio = medianOf(({ mcp }) => mcp.stateless.perSecond / mcp.sdkStateless.perSecond);
  const byCpu = medianOf(({ mcp }) => (mcp.sdkStateless.cpu.server ?? 0) / (mcp.stateless.cpu.server ?? 1));
  const toSession = medianOf(({ mcp }) => mcp.stateless.perSecond / mcp.sdkSession.perSecond);
  return {
    aim: "k  at least 5 times the SDK's server",
    measured: `${ratio.toFixed(1)} times (${byCpu.toFixed(1)} by the server's CPU), ${toSession.toFixed(1)} times its sessions`,
    isMet: ratio >= 5,
  };
}
