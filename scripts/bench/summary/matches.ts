import type { Rate } from "../process.ts";
import type { Round } from "../rates.ts";
import type { Aim, Figures, MedianOf, Summary } from "./figures.ts";

/** The row of the moves of a league, with the calls that each takes. */
export const leagueRows = ({ rateRow, medianOf }: Figures): Summary["rows"] => [
  rateRow(
    "a  moves, 1 referee, 4 players, 64",
    (round) => round.league64,
    `${medianOf(({ sizes }) => sizes.callsPerMove).toFixed(2)} calls per move`,
  ),
];

/** The rows of the limits of HTTP, with messages of the mean sizes. */
export function limitRows({ rateRow }: Figures, [first]: readonly Round[]): Summary["rows"] {
  const bytes = `request ${first?.sizes.request} B, reply ${first?.sizes.reply} B`;
  return [
    rateRow("b  limit, 8 connections", (round) => round.limit[8], bytes),
    rateRow("b  limit, 16 connections", (round) => round.limit[16]),
    rateRow("b  limit, 128 connections", (round) => round.limit[128]),
  ];
}

/** The rows of calls by POST and over WebSockets. */
export const transportRows = ({ rateRow }: Figures): Summary["rows"] => [
  rateRow("r  calls by POST, 64", (round) => round.transports.post),
  rateRow("r  calls over WebSockets, 64", (round) => round.transports.socket),
];

/** The row of a league of two players, which is compared with the MCP SDK. */
export const pairRows = ({ rateRow }: Figures): Summary["rows"] => [
  rateRow("c  moves, one pair, 64", (round) => round.pair),
];

/** The rows of games without HTTP. */
export const localRows = ({ rateRow }: Figures): Summary["rows"] => [
  rateRow("s  league match, built-in bots", (round) => round.local.builtIn, "actions of rps, best of 9"),
  rateRow("s  league match, bots of files", (round) => round.local.files, "actions of rps, best of 9"),
  rateRow("s  league match, Python", (round) => round.local.python, "games of rps, best of 9"),
  rateRow("s  league match, chess", (round) => round.local.chess, "games of 60 plies"),
  rateRow("s  league match, engines", (round) => round.local.engines, "plies"),
];

/** The rows of sessions of the MCP SDK. */
export const sdkRows = ({ rateRow }: Figures): Summary["rows"] => [
  rateRow("c  MCP SDK session, event stream", (round) => round.sdk.stream),
  rateRow("c  MCP SDK session, JSON", (round) => round.sdk.json),
];

/** The rows of the rules of chess. */
export const chessRows = ({ microsecondsRow }: Figures, [first]: readonly Round[]): Summary["rows"] => [
  microsecondsRow(
    "d  chess plies, applyAction",
    (round) => round.chess.applyAction,
    `${first?.chess.plies} plies per round`,
  ),
  microsecondsRow("d  chess.js move() alone", (round) => round.chess.chessJsMove, ""),
];

/** The rows of leagues with different numbers of concurrent matches. */
export const flatnessRows = ({ rateRow }: Figures): Summary["rows"] => [
  rateRow("f  moves, 1 in flight", (round) => round.league1),
  rateRow("f  moves, 64 in flight", (round) => round.league64),
  rateRow("f  moves, 1000 in flight", (round) => round.league1000),
];

const bestLimit = (round: Round): number => Math.max(round.limit[8].perSecond, round.limit[16].perSecond);

/** The aim for the moves of a referee relative to the limit of HTTP. */
export function limitAim(medianOf: MedianOf): Aim {
  const toLimit = medianOf((round) => round.league64.perSecond / bestLimit(round));
  const callsPerMove = medianOf(({ sizes }) => sizes.callsPerMove);
  const cpuToLimit = medianOf((round) => {
    const limit = round.limit[8].perSecond >= round.limit[16].perSecond ? round.limit[8] : round.limit[16];
    return limit.cpuTotal / round.league64.cpuTotal;
  });
  return {
    aim: "a  at least 0.55 of b (the better of 8 and 16 connections)",
    measured: `${toLimit.toFixed(2)} (${(toLimit * callsPerMove).toFixed(2)} by calls, ${cpuToLimit.toFixed(2)} by CPU)`,
    isMet: toLimit >= 0.55,
  };
}

/** The aim for the moves of a referee relative to tool calls of the MCP SDK. */
export function sdkAim(medianOf: MedianOf): Aim {
  const sdkRatio = medianOf(
    (round) => round.pair.perSecond / Math.max(round.sdk.stream.perSecond, round.sdk.json.perSecond),
  );
  const sdkByCpu = medianOf(
    (round) => Math.min(round.sdk.stream.cpuTotal, round.sdk.json.cpuTotal) / round.pair.cpuTotal,
  );
  const sdkStream = medianOf((round) => round.pair.perSecond / round.sdk.stream.perSecond);
  return {
    aim: "c  at least 8 times the MCP SDK",
    measured: `${sdkRatio.toFixed(1)} times its faster mode (${sdkByCpu.toFixed(1)} by CPU), ${sdkStream.toFixed(1)} times its default, the event stream`,
    isMet: sdkRatio >= 8,
  };
}

/** The aim for calls over WebSockets. */
export function transportAim(medianOf: MedianOf): Aim {
  const ratio = medianOf(({ transports }) => transports.socket.cpuTotal / transports.post.cpuTotal);
  return {
    aim: "r  a call over a WebSocket takes less CPU time than by POST",
    measured: `${ratio.toFixed(2)} of it`,
    isMet: ratio < 1,
  };
}

/** The aim for the processor time of a ply of two engines, without that of the engines. */
export function engineAim(medianOf: MedianOf): Aim {
  const ply = medianOf((round) => round.local.engines.cpu.match ?? 0);
  return {
    aim: "s  league match, engines: at most 250 µs of CPU per ply",
    measured: `${ply.toFixed(0)} µs`,
    isMet: ply <= 250,
  };
}

/** The aims for games without HTTP. */
export function localAims(medianOf: MedianOf): readonly Aim[] {
  const aim = (what: string, limit: number, unit: string, rate: (round: Round) => Rate): Aim => {
    const perSecond = medianOf((round) => rate(round).perSecond);
    const cpu = medianOf((round) => 1e6 / rate(round).cpuTotal);
    const others = medianOf((round) => rate(round).others);
    return {
      aim: `s  league match, ${what}: at least ${limit} ${unit} a second`,
      measured: `${perSecond.toFixed(0)}, with ${(others * 100).toFixed(0)}% other load; ${cpu.toFixed(0)} in a second of processor time`,
      isMet: perSecond >= limit,
    };
  };
  return [
    aim("built-in bots", 50_000, "actions", ({ local }) => local.builtIn),
    aim("bots of files", 15_000, "actions", ({ local }) => local.files),
    aim("programs in Python", 50, "games of rps, best of 9,", ({ local }) => local.python),
    aim("random chess", 80, "games of 60 plies", ({ local }) => local.chess),
  ];
}

/** The aim for the rules of chess. */
export function chessAim(medianOf: MedianOf): Aim {
  const ply = medianOf((round) => round.chess.applyAction);
  const chessJsMove = medianOf((round) => round.chess.chessJsMove);
  return {
    aim: "d  at most 80 µs per ply",
    measured: `${ply.toFixed(1)} µs with checks for mate and draws; chess.js move() takes ${chessJsMove.toFixed(1)}`,
    isMet: ply <= 80,
  };
}

/** The aim for the growth of a move's cost with the number of concurrent matches. */
export function flatnessAim(medianOf: MedianOf): Aim {
  const growth = medianOf((round) => round.league1000.cpuTotal / round.league64.cpuTotal);
  return {
    aim: "f  CPU time per move constant from 64 to 1000 matches",
    measured: `${growth.toFixed(2)} times`,
    isMet: growth <= 1.15,
  };
}

/** The aim for the start of a manager with recorded matches. */
export const managerStartAim = (medianOf: MedianOf, matches: number | undefined): Aim => ({
  aim: `q  a manager with ${matches} recorded matches starts in under 1.5 s`,
  measured: `${(medianOf((round) => round.managerStart.ms) / 1_000).toFixed(2)} s`,
  isMet: medianOf((round) => round.managerStart.ms) < 1_500,
});
