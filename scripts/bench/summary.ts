import type { ExportCost } from "./matches/export.ts";
import { WAITERS } from "./mcp/mcp.ts";
import { median, type Rate } from "./process.ts";
import type { Round } from "./rates.ts";
import { type ActionRate, REST } from "./rest/rest.ts";
import type { Starts } from "./start-times.ts";

/** The table of the medians over all rounds, and the aims. */
interface Summary {
  readonly rows: readonly (readonly string[])[];
  readonly aims: readonly Aim[];
}

/** An aim with the measured figure. `isMet` is null for an aim without a limit, which is only reported. */
interface Aim {
  readonly aim: string;
  readonly measured: string;
  readonly isMet: boolean | null;
}

/** Returns the median of a figure over the rounds. */
type MedianOf = (value: (round: Round) => number) => number;
/** Returns the row of a figure in microseconds per operation. */
type MicrosecondsRow = (name: string, value: (round: Round) => number, note: string) => readonly string[];
/** Returns the row of a rate. */
type RateRow = (name: string, rate: (round: Round) => Rate, note?: string) => readonly string[];

/** Functions that summarise figures over all rounds. */
interface Figures {
  readonly medianOf: MedianOf;
  readonly rateRow: RateRow;
  readonly microsecondsRow: MicrosecondsRow;
}

type Needs = readonly (keyof Round)[];

/**
 * Summarises the rounds. Ratios are computed within each round, so that other load of the machine affects both sides. A row or an aim is missing if no
 * round has all its measurements. With `latest`, returns only those that show this measurement.
 */
export function summarise(
  rounds: readonly Partial<Round>[],
  letters: readonly string[],
  latest?: keyof Round,
): Summary {
  const isShown = (needs: Needs): boolean => latest === undefined || needs.includes(latest);
  const from = <T>(needs: Needs, summary?: (figures: Figures, complete: readonly Round[]) => readonly T[]) => {
    // A section reads only the measurements that it needs.
    const complete = rounds.filter((round): round is Round => needs.every((name) => round[name] !== undefined));
    return summary && complete.length > 0 && isShown(needs) ? summary(figuresOf(complete), complete) : [];
  };
  const chosen = SECTIONS.filter((section) => letters.some((letter) => section.letters.includes(letter)));
  return {
    rows: [
      ["measurement", "per s", "range", "CPU µs each", "by process", "other load", ""],
      ...chosen.flatMap(({ needs, rows }) => from(needs, rows)),
    ],
    aims: AIMS.flatMap(({ needs, aims }) => from(needs, aims)),
  };
}

const VERDICT = { true: "met     ", false: "missed  ", null: "reported" };

/** Formats the rows as a table, followed by the aims. Returns an empty text without rows and aims. */
export function formatSummary({ rows, aims }: Summary): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length))) ?? [];
  const isNumber = (column: number): boolean => column >= 1 && column <= 3;
  const lines = rows.map((row) =>
    row
      .map((cell, column) => (isNumber(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)))
      .join("  ")
      .trimEnd(),
  );
  const table = rows.length > 1 ? lines : [];
  const aimWidth = Math.max(...aims.map(({ aim }) => aim.length));
  const verdicts = aims.map(
    ({ aim, measured, isMet }) => `${VERDICT[`${isMet}`]}  ${aim.padEnd(aimWidth)}  ${measured}`,
  );
  return [...table, ...(table.length > 0 && verdicts.length > 0 ? [""] : []), ...verdicts].join("\n");
}

/** Returns functions that summarise figures over these rounds. */
function figuresOf(rounds: readonly Round[]): Figures {
  const medianOf: MedianOf = (value) => median(rounds.map(value));
  const rateRow: RateRow = (name, rate, note = "") => {
    const groups = Object.keys(rate(rounds[0] as Round).cpu);
    const parts = groups.map((group) => `${group} ${medianOf((round) => rate(round).cpu[group] ?? 0).toFixed(0)}`);
    const faults = rounds.reduce((sum, round) => sum + ((rate(round) as { faults?: number }).faults ?? 0), 0);
    const noteWithFaults = faults > 0 ? `${faults} FAULTS ${note}` : note;
    const rates = rounds.map((round) => rate(round).perSecond / 1_000);
    return [
      name,
      medianOf((round) => rate(round).perSecond).toFixed(0),
      `${Math.min(...rates).toFixed(1)}-${Math.max(...rates).toFixed(1)}k`,
      medianOf((round) => rate(round).cpuTotal).toFixed(0),
      parts.join(", "),
      `${(medianOf((round) => rate(round).others) * 100).toFixed(0)} %`,
      noteWithFaults,
    ];
  };
  const microsecondsRow: MicrosecondsRow = (name, value, note) => {
    const values = rounds.map(value);
    const range = `${(1_000 / Math.max(...values)).toFixed(1)}-${(1_000 / Math.min(...values)).toFixed(1)}k`;
    return [name, (1_000_000 / medianOf(value)).toFixed(0), range, medianOf(value).toFixed(1), "", "", note];
  };
  return { medianOf, rateRow, microsecondsRow };
}

/** The row of the moves of a league, with the calls that each takes. */
const leagueRows = ({ rateRow, medianOf }: Figures): Summary["rows"] => [
  rateRow(
    "a  moves, 1 referee, 4 players, 64",
    (round) => round.league64,
    `${medianOf(({ sizes }) => sizes.callsPerMove).toFixed(2)} calls per move`,
  ),
];

/** The rows of the limits of HTTP, with messages of the mean sizes. */
function limitRows({ rateRow }: Figures, [first]: readonly Round[]): Summary["rows"] {
  const bytes = `request ${first?.sizes.request} B, reply ${first?.sizes.reply} B`;
  return [
    rateRow("b  limit, 8 connections", (round) => round.limit[8], bytes),
    rateRow("b  limit, 16 connections", (round) => round.limit[16]),
    rateRow("b  limit, 128 connections", (round) => round.limit[128]),
  ];
}

/** The rows of calls by POST and over WebSockets. */
const transportRows = ({ rateRow }: Figures): Summary["rows"] => [
  rateRow("r  calls by POST, 64", (round) => round.transports.post),
  rateRow("r  calls over WebSockets, 64", (round) => round.transports.socket),
];

/** The row of a league of two players, which is compared with the MCP SDK. */
const pairRows = ({ rateRow }: Figures): Summary["rows"] => [rateRow("c  moves, one pair, 64", (round) => round.pair)];

/** The rows of games without HTTP. */
const localRows = ({ rateRow }: Figures): Summary["rows"] => [
  rateRow("s  league match, built-in bots", (round) => round.local.builtIn, "actions of rps, best of 9"),
  rateRow("s  league match, bots of files", (round) => round.local.files, "actions of rps, best of 9"),
  rateRow("s  league match, Python", (round) => round.local.python, "games of rps, best of 9"),
  rateRow("s  league match, chess", (round) => round.local.chess, "games of 60 plies"),
  rateRow("s  league match, engines", (round) => round.local.engines, "plies"),
];

/** The rows of sessions of the MCP SDK. */
const sdkRows = ({ rateRow }: Figures): Summary["rows"] => [
  rateRow("c  MCP SDK session, event stream", (round) => round.sdk.stream),
  rateRow("c  MCP SDK session, JSON", (round) => round.sdk.json),
];

/** The rows of the rules of chess. */
const chessRows = ({ microsecondsRow }: Figures, [first]: readonly Round[]): Summary["rows"] => [
  microsecondsRow(
    "d  chess plies, applyAction",
    (round) => round.chess.applyAction,
    `${first?.chess.plies} plies per round`,
  ),
  microsecondsRow("d  chess.js move() alone", (round) => round.chess.chessJsMove, ""),
];

/** The rows of leagues with different numbers of concurrent matches. */
const flatnessRows = ({ rateRow }: Figures): Summary["rows"] => [
  rateRow("f  moves, 1 in flight", (round) => round.league1),
  rateRow("f  moves, 64 in flight", (round) => round.league64),
  rateRow("f  moves, 1000 in flight", (round) => round.league1000),
];

const bestLimit = (round: Round): number => Math.max(round.limit[8].perSecond, round.limit[16].perSecond);

/** The aim for the moves of a referee relative to the limit of HTTP. */
function limitAim(medianOf: MedianOf): Aim {
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
function sdkAim(medianOf: MedianOf): Aim {
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
function transportAim(medianOf: MedianOf): Aim {
  const ratio = medianOf(({ transports }) => transports.socket.cpuTotal / transports.post.cpuTotal);
  return {
    aim: "r  a call over a WebSocket takes less CPU time than by POST",
    measured: `${ratio.toFixed(2)} of it`,
    isMet: ratio < 1,
  };
}

/** The aim for the processor time of a ply of two engines, without that of the engines. */
function engineAim(medianOf: MedianOf): Aim {
  const ply = medianOf((round) => round.local.engines.cpu.match ?? 0);
  return {
    aim: "s  league match, engines: at most 250 µs of CPU per ply",
    measured: `${ply.toFixed(0)} µs`,
    isMet: ply <= 250,
  };
}

/** The aims for games without HTTP. */
function localAims(medianOf: MedianOf): readonly Aim[] {
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
function chessAim(medianOf: MedianOf): Aim {
  const ply = medianOf((round) => round.chess.applyAction);
  const chessJsMove = medianOf((round) => round.chess.chessJsMove);
  return {
    aim: "d  at most 80 µs per ply",
    measured: `${ply.toFixed(1)} µs with checks for mate and draws; chess.js move() takes ${chessJsMove.toFixed(1)}`,
    isMet: ply <= 80,
  };
}

/** The aim for the growth of a move's cost with the number of concurrent matches. */
function flatnessAim(medianOf: MedianOf): Aim {
  const growth = medianOf((round) => round.league1000.cpuTotal / round.league64.cpuTotal);
  return {
    aim: "f  CPU time per move constant from 64 to 1000 matches",
    measured: `${growth.toFixed(2)} times`,
    isMet: growth <= 1.15,
  };
}

/** The aim for the start of a manager with recorded matches. */
const managerStartAim = (medianOf: MedianOf, matches: number | undefined): Aim => ({
  aim: `q  a manager with ${matches} recorded matches starts in under 1.5 s`,
  measured: `${(medianOf((round) => round.managerStart.ms) / 1_000).toFixed(2)} s`,
  isMet: medianOf((round) => round.managerStart.ms) < 1_500,
});

/** The rows of the rules and prompts of Codenames. */
function codenamesRows(microsecondsRow: MicrosecondsRow, positions: number): Summary["rows"] {
  const note = `in the middle of ${positions} games`;
  return [
    microsecondsRow("n  Codenames, applyAction of a clue", ({ codenames }) => codenames.microseconds.applyClue, note),
    microsecondsRow("n  Codenames, applyAction of a guess", ({ codenames }) => codenames.microseconds.applyGuess, ""),
    microsecondsRow(
      "n  Codenames, legalActions, spymaster",
      ({ codenames }) => codenames.microseconds.legalClues,
      "a sample of clues",
    ),
    microsecondsRow("n  Codenames, legalActions, team", ({ codenames }) => codenames.microseconds.legalGuesses, ""),
    microsecondsRow(
      "n  Codenames, viewState",
      ({ codenames }) => codenames.microseconds.viewState,
      "the view of a team",
    ),
    microsecondsRow(
      "o  prompt for a spymaster's clue",
      ({ codenames }) => codenames.microseconds.promptClue,
      "includes viewState, as in the rows below",
    ),
    microsecondsRow("o  prompt for a team's guess", ({ codenames }) => codenames.microseconds.promptGuess, ""),
    microsecondsRow("o  prompt for guessing again", ({ codenames }) => codenames.microseconds.promptContinue, ""),
    microsecondsRow("o  form for a spymaster's clue", ({ codenames }) => codenames.microseconds.formClue, ""),
    microsecondsRow("o  form for a team's guess", ({ codenames }) => codenames.microseconds.formGuess, ""),
    microsecondsRow("o  form for guessing again", ({ codenames }) => codenames.microseconds.formContinue, ""),
  ];
}

/** The aim for a turn of a clue and two guesses, with all prompts and checks. The legal actions of each step are listed once. */
function codenamesAim(medianOf: MedianOf): Summary["aims"][number] {
  const checked = ({ codenames: { microseconds } }: Round): number =>
    microseconds.applyClue +
    2 * microseconds.applyGuess +
    microseconds.legalClues +
    2 * microseconds.legalGuesses +
    3 * microseconds.viewState;
  const prompted = ({ codenames: { microseconds } }: Round): number =>
    microseconds.promptClue + 2 * microseconds.promptGuess + microseconds.promptContinue;
  const turn = medianOf((round) => checked(round) + prompted(round));
  return {
    aim: "o  rules and prompts under 1 ms a turn",
    measured: `${turn.toFixed(0)} µs: ${medianOf(checked).toFixed(0)} for the rules, ${medianOf(prompted).toFixed(0)} for four prompts (a clue, two guesses)`,
    isMet: turn < 1_000,
  };
}

const STEPS = { export: "export", replace: "export in place of an older one", verify: "verify" } as const;
type ExportStep = keyof typeof STEPS;
const exportSteps = Object.keys(STEPS) as ExportStep[];

/** The rows of export, replacement and verify for each size of a run. */
function exportRows(rateRow: RateRow, sizes: readonly ExportCost[]): Summary["rows"] {
  return exportSteps.flatMap((step) =>
    sizes.map(({ matches }, index) =>
      rateRow(`p  ${STEPS[step]}, ${matches} matches`, ({ exports }) => (exports[index] as ExportCost)[step]),
    ),
  );
}

/**
 * Compares the two largest runs, because smaller runs end before their code is compiled. Only user time is compared; system time depends on the
 * disk.
 */
function exportAim(medianOf: MedianOf, sizes: readonly ExportCost[]): Summary["aims"][number] {
  const growth = (step: ExportStep): number =>
    medianOf(({ exports }) => {
      const [smaller = 1, larger = 1] = exports.slice(-2).map((cost) => cost[step].cpu.user ?? 1);
      return larger / smaller;
    });
  const growths = exportSteps.map(growth);
  const [from, to] = sizes.slice(-2).map(({ matches }) => matches);
  return {
    aim: `p  CPU time per match constant from ${from} to ${to} matches`,
    measured: exportSteps.map((step, index) => `${STEPS[step]} ${growths[index]?.toFixed(2)} times`).join(", "),
    isMet: Math.max(...growths) <= 1.5,
  };
}

/** The rows of `get_game_state` calls. */
function mcpRows(medianOf: MedianOf, rateRow: RateRow): Summary["rows"] {
  const bytes = medianOf(({ mcp }) => mcp.stateBytes).toFixed(0);
  return [
    rateRow("k  get_game_state, MCP 2026-07-28", ({ mcp }) => mcp.stateless, `a state of ${bytes} B`),
    rateRow("k  get_game_state, plain JSON", ({ mcp }) => mcp.plain),
    rateRow("l  the SDK's server, 2026-07-28", ({ mcp }) => mcp.sdkStateless, "the same state from memory"),
    rateRow("l  the SDK's server, session", ({ mcp }) => mcp.sdkSession),
  ];
}

/** The aims for waiting clients. A client with a session has two connections: its event stream and the call that waits. */
function waitingAims(medianOf: MedianOf): Summary["aims"] {
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
function mcpAim(medianOf: MedianOf): Summary["aims"][number] {
  const ratio = medianOf(({ mcp }) => mcp.stateless.perSecond / mcp.sdkStateless.perSecond);
  const byCpu = medianOf(({ mcp }) => (mcp.sdkStateless.cpu.server ?? 0) / (mcp.stateless.cpu.server ?? 1));
  const toSession = medianOf(({ mcp }) => mcp.stateless.perSecond / mcp.sdkSession.perSecond);
  return {
    aim: "k  at least 5 times the SDK's server",
    measured: `${ratio.toFixed(1)} times (${byCpu.toFixed(1)} by the server's CPU), ${toSession.toFixed(1)} times its sessions`,
    isMet: ratio >= 5,
  };
}

const MAX_BYTES = 45_000;
const MAX_STANDINGS_MS = 300;
/** A page that answers within this time is called responsive by the Web Vitals (INP). */
const MAX_KEY_MS = 200;
const MAX_RESULT_MS = 200;
const MAX_SLOWDOWN = 0.05;

/** The rows of a league without and with open pages. */
function watchedRows(rateRow: RateRow, first: Round | undefined): Summary["rows"] {
  const { pages = 0, eventsPerSecond = 0 } = first?.watchedLeague ?? {};
  const note = `${eventsPerSecond.toFixed(0)} documents are sent per second`;
  return [
    rateRow("u  matches of a league", (round) => medianRate(round, "alone")),
    rateRow(`u  same, ${pages} open pages`, (round) => medianRate(round, "watched"), note),
  ];
}

/** The window with the median rate. */
function medianRate({ watchedLeague }: Round, kind: "alone" | "watched"): Rate {
  const rates = watchedLeague.pairs.map((pair) => pair[kind]).sort((one, other) => one.perSecond - other.perSecond);
  return rates[Math.floor(rates.length / 2)] as Rate;
}

/** The aims of pages in a browser. */
function pageAims(medianOf: MedianOf): readonly Aim[] {
  const kilobytes = (kind: "league" | "match" | "game"): number => medianOf(({ pages }) => pages.bytes[kind]) / 1_000;
  const standingsMs = medianOf(({ pages }) => pages.standingsMs);
  const typing = (field: "updates" | "received" | "pressed" | "longestTaskMs" | "slowestKeyMs"): number =>
    medianOf(({ pages }) => pages.typing[field]);
  const sizes = [kilobytes("league"), kilobytes("match"), kilobytes("game")];
  const [league, match, game] = sizes.map((size) => `${size.toFixed(1)} kB`);
  return [
    {
      aim: `t  first load of a page under ${MAX_BYTES / 1_000} kB`,
      measured: `league ${league}, match ${match}, game ${game}`,
      isMet: Math.max(...sizes) < MAX_BYTES / 1_000,
    },
    {
      aim: `t  standings of 100 players painted within ${MAX_STANDINGS_MS} ms`,
      measured: `${standingsMs.toFixed(0)} ms`,
      isMet: standingsMs <= MAX_STANDINGS_MS,
    },
    {
      aim: "t  a person types while a crosstable of 100 players changes",
      measured: `${typing("received")} of ${typing("pressed")} keys, the slowest ${typing("slowestKeyMs").toFixed(0)} ms, longest task ${typing("longestTaskMs").toFixed(0)} ms, ${typing("updates")} changes`,
      isMet: typing("received") === typing("pressed") && typing("slowestKeyMs") <= MAX_KEY_MS,
    },
  ];
}

/** The aim for the time until a result is shown. */
function resultAim(medianOf: MedianOf): Aim {
  const counts = ["4", "20", "100"];
  const middle = counts.map((players) => medianOf(({ pages }) => median(pages.results[players] ?? [])));
  const worst = counts.map((players) => medianOf(({ pages }) => Math.max(...(pages.results[players] ?? []))));
  const figures = counts.map((players, index) => `${players} players ${middle[index]} ms, worst ${worst[index]} ms`);
  return {
    aim: `t  a result is shown by open standings within ${MAX_RESULT_MS} ms`,
    measured: figures.join("; "),
    isMet: Math.max(...worst) <= MAX_RESULT_MS,
  };
}

/** The aim for a league whose pages are open. */
function slowdownAim(medianOf: MedianOf): Aim {
  const ratio = (of: (rate: Rate) => number): number =>
    medianOf(({ watchedLeague }) => median(watchedLeague.pairs.map(({ alone, watched }) => of(watched) / of(alone))));
  const slowdown = 1 - ratio(({ perSecond }) => perSecond);
  const cpu = ratio(({ cpuTotal }) => cpuTotal) - 1;
  const percent = (share: number): string => `${(share * 100).toFixed(1)}%`;
  return {
    aim: "u  200 open pages slow a league by less than 5%",
    measured: `${percent(slowdown)}; ${percent(cpu)} more CPU time per match`,
    isMet: slowdown < MAX_SLOWDOWN,
  };
}

/** The rows of this project and of other software that plays the same game. */
function peerRows(rateRow: RateRow, rounds: readonly Round[]): Summary["rows"] {
  const match = rateRow("w  tic-tac-toe, league match", ({ peers }) => peers.match, "with a log on disk");
  const league = rateRow("w  tic-tac-toe, league of two players", ({ peers }) => peers.league, "with a log on disk");
  if (rounds.some(({ peers }) => peers.boardgameIo === null)) return [match, league];
  const boardgameIo = (form: "local" | "socket") =>
    rateRow(`w  tic-tac-toe, boardgame.io ${form}`, ({ peers }) => peers.boardgameIo?.[form] as Rate, "log in memory");
  return [match, boardgameIo("local"), league, boardgameIo("socket")];
}

/** The cost of a move relative to boardgame.io. */
function peerAims(medianOf: MedianOf, rounds: readonly Round[]): readonly Aim[] {
  const isMeasured = rounds.every(({ peers }) => peers.boardgameIo !== null);
  const aim = (text: string, ratioOf: (peers: Round["peers"]) => number): Aim => ({
    aim: `w  CPU time of a move, relative to ${text}`,
    measured: isMeasured
      ? `${medianOf(({ peers }) => ratioOf(peers)).toFixed(2)} times`
      : "npm cannot install boardgame.io",
    isMet: null,
  });
  return [
    aim(
      "a local client of boardgame.io",
      ({ match, boardgameIo }) => match.cpuTotal / (boardgameIo?.local.cpuTotal ?? 1),
    ),
    aim(
      "boardgame.io over Socket.IO",
      ({ league, boardgameIo }) => league.cpuTotal / (boardgameIo?.socket.cpuTotal ?? 1),
    ),
  ];
}

/** The rows of the REST API and of idle sessions. */
function restRows(medianOf: MedianOf, rateRow: RateRow): Summary["rows"] {
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
function restAims(medianOf: MedianOf): Summary["aims"] {
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

/** The rows of what each kind of process loads at its start. */
function startRows({ loaded }: Pick<Starts, "loaded">): Summary["rows"] {
  return loaded.map(({ script, modules, kilobytes, packages }) => {
    const largest = packages.slice(0, 4).map((one) => `${one.name} ${one.modules}, ${one.kilobytes} kB`);
    const note = `${modules} modules, ${kilobytes} kB, of which ${largest.join("; ")}`;
    return [`v  loaded by ${script}`, ...Array.from({ length: 5 }, () => ""), note];
  });
}

/** The aim for the duration of `npm start`. */
function startAim(medianOf: MedianOf, processes: number | undefined): Aim {
  const first = medianOf((round) => round.starts.firstMs);
  const following = medianOf((round) => median(round.starts.followingMs));
  return {
    aim: "e  npm start at most 2.0 s after the first",
    measured: `first ${(first / 1_000).toFixed(2)} s, then ${(following / 1_000).toFixed(2)} s, peak ${medianOf(
      (round) => round.starts.peakMb,
    ).toFixed(0)} MB in ${processes} processes`,
    isMet: following <= 2_000,
  };
}

/** The rows of one subject, and the measurements that they show. */
interface Section {
  /** The letters with which its rows and aims begin, one character each. */
  readonly letters: string;
  readonly needs: Needs;
  readonly rows?: (figures: Figures, rounds: readonly Round[]) => Summary["rows"];
}

/** The sections in the order of the table. */
const SECTIONS: readonly Section[] = [
  { letters: "a", needs: ["sizes", "league64"], rows: leagueRows },
  { letters: "b", needs: ["sizes", "limit"], rows: limitRows },
  { letters: "r", needs: ["sizes", "transports"], rows: transportRows },
  { letters: "c", needs: ["pair"], rows: pairRows },
  { letters: "s", needs: ["local"], rows: localRows },
  { letters: "c", needs: ["sdk"], rows: sdkRows },
  { letters: "d", needs: ["chess"], rows: chessRows },
  { letters: "f", needs: ["league1", "league64", "league1000"], rows: flatnessRows },
  { letters: "w", needs: ["peers"], rows: ({ rateRow }, rounds) => peerRows(rateRow, rounds) },
  { letters: "ghij", needs: ["rest"], rows: ({ medianOf, rateRow }) => restRows(medianOf, rateRow) },
  { letters: "kl", needs: ["mcp"], rows: ({ medianOf, rateRow }) => mcpRows(medianOf, rateRow) },
  { letters: "m", needs: ["waiting"] },
  {
    letters: "no",
    needs: ["codenames"],
    rows: ({ microsecondsRow }, [first]) => codenamesRows(microsecondsRow, first?.codenames.positions ?? 0),
  },
  { letters: "p", needs: ["exports"], rows: ({ rateRow }, [first]) => exportRows(rateRow, first?.exports ?? []) },
  { letters: "q", needs: ["managerStart"] },
  { letters: "t", needs: ["pages"] },
  { letters: "u", needs: ["watchedLeague"], rows: ({ rateRow }, [first]) => watchedRows(rateRow, first) },
  { letters: "ev", needs: ["starts"], rows: (_, [first]) => (first ? startRows(first.starts) : []) },
];

/** The aims, and the measurements that each compares. */
const AIMS: readonly {
  readonly needs: Needs;
  readonly aims: (figures: Figures, rounds: readonly Round[]) => readonly Aim[];
}[] = [
  { needs: ["sizes", "league64", "limit"], aims: ({ medianOf }) => [limitAim(medianOf)] },
  { needs: ["transports"], aims: ({ medianOf }) => [transportAim(medianOf)] },
  { needs: ["pair", "sdk"], aims: ({ medianOf }) => [sdkAim(medianOf)] },
  { needs: ["local"], aims: ({ medianOf }) => [...localAims(medianOf), engineAim(medianOf)] },
  { needs: ["peers"], aims: ({ medianOf }, rounds) => peerAims(medianOf, rounds) },
  { needs: ["chess"], aims: ({ medianOf }) => [chessAim(medianOf)] },
  { needs: ["starts"], aims: ({ medianOf }, [first]) => [startAim(medianOf, first?.starts.processes)] },
  { needs: ["league64", "league1000"], aims: ({ medianOf }) => [flatnessAim(medianOf)] },
  { needs: ["rest"], aims: ({ medianOf }) => restAims(medianOf) },
  { needs: ["mcp"], aims: ({ medianOf }) => [mcpAim(medianOf)] },
  { needs: ["waiting"], aims: ({ medianOf }) => waitingAims(medianOf) },
  { needs: ["codenames"], aims: ({ medianOf }) => [codenamesAim(medianOf)] },
  { needs: ["exports"], aims: ({ medianOf }, [first]) => [exportAim(medianOf, first?.exports ?? [])] },
  {
    needs: ["managerStart"],
    aims: ({ medianOf }, [first]) => [managerStartAim(medianOf, first?.managerStart.matches)],
  },
  { needs: ["pages"], aims: ({ medianOf }) => [...pageAims(medianOf), resultAim(medianOf)] },
  { needs: ["watchedLeague"], aims: ({ medianOf }) => [slowdownAim(medianOf)] },
];

/** The letters of all rows and aims. */
export const LETTERS: readonly string[] = [...new Set(SECTIONS.flatMap(({ letters }) => [...letters]))].sort();

/** Returns the measurements of the rows with these letters. */
export const measurementsOf = (letters: readonly string[]): ReadonlySet<keyof Round> =>
  new Set(
    SECTIONS.filter((section) => letters.some((letter) => section.letters.includes(letter))).flatMap(
      ({ needs }) => needs,
    ),
  );
