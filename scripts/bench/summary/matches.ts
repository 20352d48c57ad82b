import type { Sizes } from "../matches/league.ts";
import { median } from "../median.ts";
import type { Round } from "../rates.ts";
import type { Aim, Figures, Of, Summary } from "./figures.ts";

export function matchRows({ row, us }: Figures, sizes: Sizes, plies: number | undefined): Summary["rows"] {
  const bytes = `${sizes.request} B there, ${sizes.reply} B back`;
  return [
    row(
      "a  moves, 1 referee, 4 players, 64",
      (round) => round.league[64],
      `${sizes.callsPerMove.toFixed(2)} calls a move`,
    ),
    row("b  limit, 8 connections", (round) => round.limit[8], bytes),
    row("b  limit, 16 connections", (round) => round.limit[16]),
    row("b  limit, 128 connections", (round) => round.limit[128]),
    row("c  moves, one pair, 64", (round) => round.pair),
    row("c  MCP SDK session, event stream", (round) => round.sdk.stream),
    row("c  MCP SDK session, JSON", (round) => round.sdk.json),
    us("d  chess plies, applyAction", (round) => round.chess.applyAction, `${plies} plies a round`),
    us("d  chess.js's own move(), bare", (round) => round.chess.chessJsMove, ""),
    row("f  moves, 1 in flight", (round) => round.league[1]),
    row("f  moves, 64 in flight", (round) => round.league[64]),
    row("f  moves, 1000 in flight", (round) => round.league[1000]),
  ];
}

const best = (round: Round): number => Math.max(round.limit[8].perSecond, round.limit[16].perSecond);

export function limitAim(of: Of, sizes: Sizes): Aim {
  const toLimit = of((round) => round.league[64].perSecond / best(round));
  const cpuToLimit = of((round) => {
    const limit = round.limit[8].perSecond >= round.limit[16].perSecond ? round.limit[8] : round.limit[16];
    return limit.cpuTotal / round.league[64].cpuTotal;
  });
  return {
    aim: "a  at least 0.55 of b (best of 8 and 16)",
    measured: `${toLimit.toFixed(2)} (${(toLimit * sizes.callsPerMove).toFixed(2)} by calls, ${cpuToLimit.toFixed(2)} by CPU)`,
    isMet: toLimit >= 0.55,
  };
}

export function sdkAim(of: Of): Aim {
  const sdkRatio = of((round) => round.pair.perSecond / Math.max(round.sdk.stream.perSecond, round.sdk.json.perSecond));
  const sdkByCpu = of((round) => Math.min(round.sdk.stream.cpuTotal, round.sdk.json.cpuTotal) / round.pair.cpuTotal);
  const sdkStream = of((round) => round.pair.perSecond / round.sdk.stream.perSecond);
  return {
    aim: "c  at least 8 times the MCP SDK",
    measured: `${sdkRatio.toFixed(1)} times its faster mode (${sdkByCpu.toFixed(1)} by CPU), ${sdkStream.toFixed(1)} times its default, the event stream`,
    isMet: sdkRatio >= 8,
  };
}

export function chessAim(of: Of): Aim {
  const ply = of((round) => round.chess.applyAction);
  const publicMove = of((round) => round.chess.chessJsMove);
  return {
    aim: "d  at most 80 µs a ply",
    measured: `${ply.toFixed(1)} µs, check for mate and draws included; chess.js's own move() is ${publicMove.toFixed(1)}`,
    isMet: ply <= 80,
  };
}

export function startAim(of: Of, processes: number | undefined): Aim {
  const first = of((round) => round.starts.firstMs);
  const following = of((round) => median(round.starts.followingMs));
  return {
    aim: "e  npm start at most 2.5 s after the first",
    measured: `first ${(first / 1_000).toFixed(2)} s, then ${(following / 1_000).toFixed(2)} s, peak ${of(
      (round) => round.starts.peakMb,
    ).toFixed(0)} MB in ${processes} processes`,
    isMet: following <= 2_500,
  };
}

export function flatnessAim(of: Of): Aim {
  const growth = of((round) => round.league[1000].cpuTotal / round.league[64].cpuTotal);
  return {
    aim: "f  cost of a move flat from 64 to 1000",
    measured: `${growth.toFixed(2)} times`,
    isMet: growth <= 1.15,
  };
}

export const managerStartAim = (of: Of, matches: number | undefined): Aim => ({
  aim: `q  a manager with ${matches} recorded matches starts in under 1.5 s`,
  measured: `${(of((round) => round.managerStart.ms) / 1_000).toFixed(2)} s`,
  isMet: of((round) => round.managerStart.ms) < 1_500,
});
