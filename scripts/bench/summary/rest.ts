import type { Round } from "../rates.ts";
import { type ActionRate, REST } from "../rest/rest.ts";
import type { Of, Row, Summary } from "./figures.ts";

export function restRows(of: Of, row: Row): Summary["rows"] {
  const latency = (rate: (round: Round) => ActionRate): string =>
    `${REST.connections} connections, p50 ${of((round) => rate(round).p50Ms).toFixed(1)} ms, p99 ${of((round) => rate(round).p99Ms).toFixed(1)} ms`;
  const last = of(({ rest }) => rest.watched.lastTold.p99Ms).toFixed(0);
  const events = of(({ rest }) => rest.watched.eventsPerSecond).toFixed(0);
  const size = (what: "request" | "reply" | "row"): string => of(({ rest }) => rest.sizes[what]).toFixed(0);
  const heap = of(({ rest }) => rest.idle.heap).toFixed(0);
  const rss = of(({ rest }) => rest.idle.rss).toFixed(0);
  return [
    row(
      `g  REST actions, ${REST.sessions} sessions`,
      ({ rest }) => rest.alone,
      `${latency(({ rest }) => rest.alone)}; besides ${of(({ rest }) => rest.alone.createdPerSecond).toFixed(0)} sessions created a second`,
    ),
    row(
      `h  the same, ${REST.spectators} watch one`,
      ({ rest }) => rest.watched,
      `${latency(({ rest }) => rest.watched)}; ${events} events a second, the last of each p99 ${last} ms after the answer`,
    ),
    row(
      "i  limit, node:http and SQLite",
      ({ rest }) => rest.limit,
      `${latency(({ rest }) => rest.limit)}; ${size("request")} B there, ${size("reply")} B back, ${size("row")} B a row`,
    ),
    [
      `j  idle session of ${REST.idleSessions}`,
      ...Array.from({ length: 5 }, () => ""),
      `${heap} B after a forced garbage collection, ${rss} B resident`,
    ],
  ];
}

/** The limit is taken right after the host, in the same round. */
export function restAims(of: Of): Summary["aims"] {
  const toLimit = (rate: (round: Round) => ActionRate): string => {
    const share = of((round) => rate(round).perSecond / round.rest.limit.perSecond);
    const byCpu = of((round) => (round.rest.limit.cpu.server ?? 0) / (rate(round).cpu.host ?? 1));
    return `${share.toFixed(2)} of i (${byCpu.toFixed(2)} by the server's CPU)`;
  };
  const heap = of(({ rest }) => rest.idle.heap);
  return [
    { aim: "g  REST actions", measured: toLimit(({ rest }) => rest.alone), isMet: null },
    { aim: "h  REST actions, one session watched", measured: toLimit(({ rest }) => rest.watched), isMet: null },
    { aim: "j  memory of an idle session", measured: `${(heap / 1024).toFixed(1)} kB while in memory`, isMet: null },
  ];
}
