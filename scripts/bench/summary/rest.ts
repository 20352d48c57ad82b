import type { Round } from "../rates.ts";
import { type ActionRate, REST } from "../rest/rest.ts";
import type { MedianOf, RateRow, Summary } from "./figures.ts";

/** The rows of the REST API and of idle sessions. */
export function restRows(medianOf: MedianOf, rateRow: RateRow): Summary["rows"] {
  const latency = (rate: (round: Round) => ActionRate): string =>
    `${REST.connections} connections, p50 ${medianOf((round) => rate(round).p50Ms).toFixed(1)} ms, p99 ${medianOf((round) => rate(round).p99Ms).toFixed(1)} ms`;
  const delay = medianOf(({ rest }) => rest.watched.lastEventDelay.p99Ms).toFixed(0);
  const events = medianOf(({ rest }) => rest.watched.eventsPerSecond).toFixed(0);
  const size = (field: "request" | "reply" | "row"): string => medianOf(({ rest }) => rest.sizes[field]).toFixed(0);
  const heap = medianOf(({ rest }) => rest.idle.heap).toFixed(0);
  const rss = medianOf(({ rest }) => rest.idle.rss).toFixed(0);
  return [
    rateRow(
      `g  REST actions, ${REST.sessions} sessions`,
      ({ rest }) => rest.alone,
      `${latency(({ rest }) => rest.alone)}; in addition ${medianOf(({ rest }) => rest.alone.createdPerSecond).toFixed(0)} sessions created per second`,
    ),
    rateRow(
      `h  same, ${REST.spectators} spectators of one session`,
      ({ rest }) => rest.watched,
      `${latency(({ rest }) => rest.watched)}; ${events} events per second, the last spectator's p99 ${delay} ms after the answer`,
    ),
    rateRow(
      "i  limit, node:http and SQLite",
      ({ rest }) => rest.limit,
      `${latency(({ rest }) => rest.limit)}; request ${size("request")} B, reply ${size("reply")} B, row ${size("row")} B`,
    ),
    [
      `j  idle session of ${REST.idleSessions}`,
      ...Array.from({ length: 5 }, () => ""),
      `${heap} B after a forced garbage collection, ${rss} B resident`,
    ],
  ];
}

/** The aims of REST. The limit is measured in the same round, immediately after the host. */
export function restAims(medianOf: MedianOf): Summary["aims"] {
  const toLimit = (rate: (round: Round) => ActionRate): string => {
    const share = medianOf((round) => rate(round).perSecond / round.rest.limit.perSecond);
    const byCpu = medianOf((round) => (round.rest.limit.cpu.server ?? 0) / (rate(round).cpu.host ?? 1));
    return `${share.toFixed(2)} of i (${byCpu.toFixed(2)} by the server's CPU)`;
  };
  const heap = medianOf(({ rest }) => rest.idle.heap);
  return [
    { aim: "g  REST actions", measured: toLimit(({ rest }) => rest.alone), isMet: null },
    { aim: "h  REST actions, one session watched", measured: toLimit(({ rest }) => rest.watched), isMet: null },
    { aim: "j  memory of an idle session", measured: `${(heap / 1024).toFixed(1)} kB while in memory`, isMet: null },
  ];
}
