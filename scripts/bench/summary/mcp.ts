import { WAITERS } from "../mcp/waiting.ts";
import type { Round } from "../rates.ts";
import type { Of, Row, Summary } from "./figures.ts";

export function mcpRows(of: Of, row: Row): Summary["rows"] {
  const bytes = of(({ mcp }) => mcp.stateBytes).toFixed(0);
  return [
    row("k  get_game_state, MCP 2026-07-28", ({ mcp }) => mcp.stateless, `a state of ${bytes} B`),
    row("k  get_game_state, plain JSON", ({ mcp }) => mcp.plain),
    row("l  the SDK's own server, 2026-07-28", ({ mcp }) => mcp.sdkStateless, "the same state, from memory"),
    row("l  the SDK's own server, session", ({ mcp }) => mcp.sdkSession),
  ];
}

/** The session's clients hold two connections: their stream, and the call that waits. */
export function waitingAims(of: Of): Summary["aims"] {
  const aim = (kind: keyof Round["waiting"], name: string): Summary["aims"][number] => {
    const heap = of(({ waiting }) => waiting[kind].heap);
    const rss = of(({ waiting }) => waiting[kind].rss);
    const cpu = of(({ waiting }) => waiting[kind].cpu);
    return {
      aim: `m  at most 100 kB for each of ${WAITERS} clients waiting, ${name}`,
      measured: `${(heap / 1024).toFixed(1)} kB after a forced garbage collection, ${(rss / 1024).toFixed(1)} kB resident; all together ${(cpu * 1_000).toFixed(1)} ms of CPU a second`,
      isMet: heap <= 100 * 1024,
    };
  };
  return [aim("session", "sessions"), aim("stateless", "2026-07-28")];
}

export function mcpAim(of: Of): Summary["aims"][number] {
  const ratio = of(({ mcp }) => mcp.stateless.perSecond / mcp.sdkStateless.perSecond);
  const byCpu = of(({ mcp }) => (mcp.sdkStateless.cpu.server ?? 0) / (mcp.stateless.cpu.server ?? 1));
  const toSession = of(({ mcp }) => mcp.stateless.perSecond / mcp.sdkSession.perSecond);
  return {
    aim: "k  at least 5 times the SDK's own server",
    measured: `${ratio.toFixed(1)} times (${byCpu.toFixed(1)} by the server's CPU), ${toSession.toFixed(1)} times its sessions`,
    isMet: ratio >= 5,
  };
}
