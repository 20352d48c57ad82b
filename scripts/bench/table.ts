import type { ExportCost } from "./matches/export.ts";
import type { Sizes } from "./matches/league.ts";
import { WAITERS } from "./mcp/waiting.ts";
import { median } from "./median.ts";
import type { Rate } from "./process.ts";
import type { Round } from "./rates.ts";
import { type ActionRate, REST } from "./rest/rest.ts";

/** What the rounds come to: medians, and the ratios that the aims speak of; what has no aim is only told. */
interface Summary {
  readonly rows: readonly (readonly string[])[];
  readonly aims: readonly { readonly aim: string; readonly measured: string; readonly isMet: boolean | null }[];
}

type Of = (value: (round: Round) => number) => number;
type Us = (name: string, value: (round: Round) => number, note: string) => readonly string[];
type Row = (name: string, rate: (round: Round) => Rate, note?: string) => readonly string[];

/** Ratios are taken within each round, so that a busy machine slows both sides. */
export function summarise(rounds: readonly Round[], sizes: Sizes): Summary {
  const of: Of = (value) => median(rounds.map(value));
  const best = (round: Round): number => Math.max(round.limit[8].perSecond, round.limit[16].perSecond);
  const row: Row = (name, rate, note = "") => {
    const groups = Object.keys(rate(rounds[0] as Round).cpu);
    const parts = groups.map((group) => `${group} ${of((round) => rate(round).cpu[group] ?? 0).toFixed(0)}`);
    const faults = rounds.reduce((sum, round) => sum + ((rate(round) as { faults?: number }).faults ?? 0), 0);
    const told = faults > 0 ? `${faults} FAULTS ${note}` : note;
    const spread = rounds.map((round) => rate(round).perSecond / 1_000);
    return [
      name,
      of((round) => rate(round).perSecond).toFixed(0),
      `${Math.min(...spread).toFixed(1)}-${Math.max(...spread).toFixed(1)}k`,
      of((round) => rate(round).cpuTotal).toFixed(0),
      parts.join(", "),
      `${(of((round) => rate(round).others) * 100).toFixed(0)} %`,
      told,
    ];
  };
  const us: Us = (name, value, note) => {
    const all = rounds.map(value);
    const spread = `${(1_000 / Math.max(...all)).toFixed(1)}-${(1_000 / Math.min(...all)).toFixed(1)}k`;
    return [name, (1_000_000 / of(value)).toFixed(0), spread, of(value).toFixed(1), "", "", note];
  };
  const bytes = `${sizes.request} B there, ${sizes.reply} B back`;
  const toLimit = of((round) => round.league[64].perSecond / best(round));
  const cpuToLimit = of((round) => {
    const limit = round.limit[8].perSecond >= round.limit[16].perSecond ? round.limit[8] : round.limit[16];
    return limit.cpuTotal / round.league[64].cpuTotal;
  });
  const sdkRatio = of((round) => round.pair.perSecond / Math.max(round.sdk.stream.perSecond, round.sdk.json.perSecond));
  const sdkByCpu = of((round) => Math.min(round.sdk.stream.cpuTotal, round.sdk.json.cpuTotal) / round.pair.cpuTotal);
  const sdkStream = of((round) => round.pair.perSecond / round.sdk.stream.perSecond);
  const ply = of((round) => round.chess.applyAction);
  const publicMove = of((round) => round.chess.chessJsMove);
  const first = of((round) => round.starts.firstMs);
  const following = of((round) => median(round.starts.followingMs));
  const growth = of((round) => round.league[1000].cpuTotal / round.league[64].cpuTotal);
  return {
    rows: [
      ["what", "per s", "spread", "CPU µs each", "of it", "others", ""],
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
      us("d  chess plies, applyAction", (round) => round.chess.applyAction, `${rounds[0]?.chess.plies} plies a round`),
      us("d  chess.js's own move(), bare", (round) => round.chess.chessJsMove, ""),
      row("f  moves, 1 in flight", (round) => round.league[1]),
      row("f  moves, 64 in flight", (round) => round.league[64]),
      row("f  moves, 1000 in flight", (round) => round.league[1000]),
      ...restRows(of, row),
      ...mcpRows(of, row),
      ...codenamesRows(us, rounds[0]?.codenames.positions ?? 0),
      ...exportRows(row, rounds[0]?.exports ?? []),
    ],
    aims: [
      {
        aim: "a  at least 0.55 of b (best of 8 and 16)",
        measured: `${toLimit.toFixed(2)} (${(toLimit * sizes.callsPerMove).toFixed(2)} by calls, ${cpuToLimit.toFixed(2)} by CPU)`,
        isMet: toLimit >= 0.55,
      },
      {
        aim: "c  at least 8 times the MCP SDK",
        measured: `${sdkRatio.toFixed(1)} times its faster mode (${sdkByCpu.toFixed(1)} by CPU), ${sdkStream.toFixed(1)} times its default, the event stream`,
        isMet: sdkRatio >= 8,
      },
      {
        aim: "d  at most 80 µs a ply",
        measured: `${ply.toFixed(1)} µs, check for mate and draws included; chess.js's own move() is ${publicMove.toFixed(1)}`,
        isMet: ply <= 80,
      },
      {
        aim: "e  npm start at most 2.5 s after the first",
        measured: `first ${(first / 1_000).toFixed(2)} s, then ${(following / 1_000).toFixed(2)} s, peak ${of(
          (round) => round.starts.peakMb,
        ).toFixed(0)} MB in ${rounds[0]?.starts.processes} processes`,
        isMet: following <= 2_500,
      },
      {
        aim: "f  cost of a move flat from 64 to 1000",
        measured: `${growth.toFixed(2)} times`,
        isMet: growth <= 1.15,
      },
      ...restTold(of),
      mcpAim(of),
      ...waitingAims(of),
      codenamesAim(of),
      exportAim(of, rounds[0]?.exports ?? []),
      {
        aim: `q  a manager with ${rounds[0]?.managerStart.matches} recorded matches starts in under 1.5 s`,
        measured: `${(of((round) => round.managerStart.ms) / 1_000).toFixed(2)} s`,
        isMet: of((round) => round.managerStart.ms) < 1_500,
      },
    ],
  };
}

function restRows(of: Of, row: Row): Summary["rows"] {
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
function restTold(of: Of): Summary["aims"] {
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

function mcpRows(of: Of, row: Row): Summary["rows"] {
  const bytes = of(({ mcp }) => mcp.stateBytes).toFixed(0);
  return [
    row("k  get_game_state, MCP 2026-07-28", ({ mcp }) => mcp.stateless, `a state of ${bytes} B`),
    row("k  get_game_state, plain JSON", ({ mcp }) => mcp.plain),
    row("l  the SDK's own server, 2026-07-28", ({ mcp }) => mcp.sdkStateless, "the same state, from memory"),
    row("l  the SDK's own server, session", ({ mcp }) => mcp.sdkSession),
  ];
}

/** The session's clients hold two connections: their stream, and the call that waits. */
function waitingAims(of: Of): Summary["aims"] {
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

function mcpAim(of: Of): Summary["aims"][number] {
  const ratio = of(({ mcp }) => mcp.stateless.perSecond / mcp.sdkStateless.perSecond);
  const byCpu = of(({ mcp }) => (mcp.sdkStateless.cpu.server ?? 0) / (mcp.stateless.cpu.server ?? 1));
  const toSession = of(({ mcp }) => mcp.stateless.perSecond / mcp.sdkSession.perSecond);
  return {
    aim: "k  at least 5 times the SDK's own server",
    measured: `${ratio.toFixed(1)} times (${byCpu.toFixed(1)} by the server's CPU), ${toSession.toFixed(1)} times its sessions`,
    isMet: ratio >= 5,
  };
}

function codenamesRows(us: Us, positions: number): Summary["rows"] {
  const note = `in the middle of ${positions} games`;
  return [
    us("n  Codenames, applyAction of a clue", ({ codenames }) => codenames.us.applyClue, note),
    us("n  Codenames, applyAction of a guess", ({ codenames }) => codenames.us.applyGuess, ""),
    us("n  Codenames, legalActions, spymaster", ({ codenames }) => codenames.us.legalClues, "its sample of clues"),
    us("n  Codenames, legalActions, team", ({ codenames }) => codenames.us.legalGuesses, ""),
    us("n  Codenames, viewState", ({ codenames }) => codenames.us.viewState, "a team's"),
    us("o  prompt for a spymaster's clue", ({ codenames }) => codenames.us.promptClue, "its view included, as below"),
    us("o  prompt for a team's guess", ({ codenames }) => codenames.us.promptGuess, ""),
    us("o  prompt for guessing again", ({ codenames }) => codenames.us.promptContinue, ""),
    us("o  form for a spymaster's clue", ({ codenames }) => codenames.us.formClue, ""),
    us("o  form for a team's guess", ({ codenames }) => codenames.us.formGuess, ""),
    us("o  form for guessing again", ({ codenames }) => codenames.us.formContinue, ""),
  ];
}

/** A turn here is a clue and two guesses, every question and every check of it; its moves are listed once each. */
function codenamesAim(of: Of): Summary["aims"][number] {
  const checked = ({ codenames: { us } }: Round): number =>
    us.applyClue + 2 * us.applyGuess + us.legalClues + 2 * us.legalGuesses + 3 * us.viewState;
  const asked = ({ codenames: { us } }: Round): number => us.promptClue + 2 * us.promptGuess + us.promptContinue;
  const turn = of((round) => checked(round) + asked(round));
  return {
    aim: "o  rules and prompts under 1 ms a turn",
    measured: `${turn.toFixed(0)} µs: ${of(checked).toFixed(0)} for the rules, ${of(asked).toFixed(0)} for four prompts (a clue, two guesses)`,
    isMet: turn < 1_000,
  };
}

const STEPS = { export: "export", replace: "export in place of an older one", verify: "verify" } as const;
type ExportStep = keyof typeof STEPS;
const exportSteps = Object.keys(STEPS) as ExportStep[];

function exportRows(row: Row, sizes: readonly ExportCost[]): Summary["rows"] {
  return exportSteps.flatMap((step) =>
    sizes.map(({ matches }, index) =>
      row(`p  ${STEPS[step]}, ${matches} matches`, ({ exports }) => (exports[index] as ExportCost)[step]),
    ),
  );
}

/** Of the two largest runs: a smaller one is over before its code is compiled. System time is that of the disk. */
function exportAim(of: Of, sizes: readonly ExportCost[]): Summary["aims"][number] {
  const growth = (step: ExportStep): number =>
    of(({ exports }) => {
      const [smaller = 1, larger = 1] = exports.slice(-2).map((cost) => cost[step].cpu.user ?? 1);
      return larger / smaller;
    });
  const growths = exportSteps.map(growth);
  const [from, to] = sizes.slice(-2).map(({ matches }) => matches);
  return {
    aim: `p  CPU time of a match flat from ${from} to ${to}`,
    measured: exportSteps.map((step, index) => `${STEPS[step]} ${growths[index]?.toFixed(2)} times`).join(", "),
    isMet: Math.max(...growths) <= 1.5,
  };
}

const VERDICT = { true: "met   ", false: "missed", null: "told  " };

export function printable({ rows, aims }: Summary): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length))) ?? [];
  const isNumber = (column: number): boolean => column >= 1 && column <= 3;
  const lines = rows.map((row) =>
    row
      .map((cell, column) => (isNumber(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)))
      .join("  ")
      .trimEnd(),
  );
  const wide = Math.max(...aims.map(({ aim }) => aim.length));
  const verdicts = aims.map(({ aim, measured, isMet }) => `${VERDICT[`${isMet}`]}  ${aim.padEnd(wide)}  ${measured}`);
  return [...lines, "", ...verdicts].join("\n");
}
