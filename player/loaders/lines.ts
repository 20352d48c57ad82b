import { execFile } from "node:child_process";
import { accessSync, constants, existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, extname, join, resolve } from "node:path";
import { z } from "zod";
import type { Clock } from "#shared/lib/clock.ts";
import { messageOf } from "#shared/lib/result.ts";
import { cutTo, inOneLine, parsedJson } from "#shared/lib/text.ts";
import type { ClockState } from "#shared/lib/time-control.ts";
import type { GameResult } from "#shared/protocol/messages.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { type BotHome, hashOfCommand, hashOfFiles, type LoadedBot, type MatchBot } from "../loaded-bot.ts";
import { winningRoles } from "../notifications.ts";
import type { MatchClocks, MatchInfo, Turn } from "../sdk.ts";
import { isProgramEnding, type ProgramEnding, programIn } from "./bot-files.ts";
import {
  type LineProgram,
  MAX_LINE_BYTES,
  type ProcessEnd,
  type ProgramProcess,
  ProgramProcesses,
} from "./program-processes.ts";

/** A program that plays by lines of JSON, as `linesSpec` writes it. */
const ProgramSpec = z.strictObject({
  command: z.union([z.string(), z.array(z.string()).min(1)]),
  folder: z.string(),
  startMs: z.int().min(1).optional(),
  matches: z.literal("one").optional(),
});

/** Begins the text that selects a program as a bot. */
export const LINES_PREFIX = "lines:";

/** The exit code of a shell that does not find the command. */
const NOT_FOUND = 127;
/** The maximum number of characters of a line of output that are shown. */
const MAX_SHOWN = 1_000;
/** Shown for a line of output that is not kept. */
const TOO_LONG = `a line of more than ${MAX_LINE_BYTES} bytes`;

/** The time for which an invitation that does not say its limit waits until the program can play. */
const WAIT_MS = 3_000;

const Answer = z.object({ action: z.unknown() }).refine((answer) => "action" in answer);

/** The text that selects a program of a config as a bot. */
export const linesSpec = (command: readonly string[], folder: string, startMs?: number, matches?: "one"): string =>
  `${LINES_PREFIX}${JSON.stringify({ command, folder, startMs, matches })}`;

/**
 * A program as a bot. A process plays one match at a time: it reads a line of JSON for the start, each turn and the end of the match, and answers
 * each turn with a line `{"action": …}` (docs/bots.md). If the process ends before the end of the match, the next turn starts another one. A process whose
 * ready line says that it plays many matches plays the next one after a match without a fault.
 * `spec` is `lines:` and a command for the shell, with settings such as `#start_ms=N` after it, or the text of `linesSpec`. Throws StartError (exit
 * code 3) if the program does not start or soon ends with an error. `home.fail` receives such an error if it occurs later.
 */
export async function linesBot(spec: string, clock: Clock, home: Pick<BotHome, "warn" | "fail">): Promise<LoadedBot> {
  const program = programOf(spec.slice(LINES_PREFIX.length).trim());
  const name = typeof program.command === "string" ? program.command : program.command.join(" ");
  const processes = new ProgramProcesses(program, clock, home);
  await processes.load();
  const players = new Set<LinePlayer>();
  return {
    name: `lines:${name}`,
    hash: hashOfCommand(name, program.folder),
    readsHistory: false,
    create: (log) => new LinePlayer(processes, players, log),
    async close() {
      for (const player of players) player.close();
      await processes.close();
    },
  };
}

function programOf(text: string): LineProgram {
  const parsed = ProgramSpec.safeParse(parsedJson(text));
  if (parsed.success) return parsed.data;
  const { program: command, ...setting } = programIn(text);
  if (command === "")
    throw new StartError(`${LINES_PREFIX} names no command, e.g. ${LINES_PREFIX}python3 bot.py`, EXIT.config);
  return { command, folder: process.cwd(), ...setting };
}

/** The open turn of a match. */
interface Question {
  readonly line: object;
  readonly answer: PromiseWithResolvers<unknown>;
}

/** Plays one match. */
class LinePlayer implements MatchBot {
  readonly #processes: ProgramProcesses;
  /** The players of open matches. */
  readonly #players: Set<LinePlayer>;
  #process: ProgramProcess | null = null;
  #info: MatchInfo | null = null;
  #question: Question | null = null;
  /** Whether the process has played an earlier match and has answered no turn of this one. Its fault may then come from the match before. */
  #isUnproven = false;
  /** Whether an answer of the process was illegal. It then plays no further match. */
  #isAtFault = false;
  readonly #log: (line: string) => void;

  constructor(processes: ProgramProcesses, players: Set<LinePlayer>, log: (line: string) => void) {
    this.#processes = processes;
    this.#players = players;
    this.#log = log;
  }

  async start(info: MatchInfo, waitMs = WAIT_MS): Promise<void> {
    this.#players.add(this);
    this.#info = info;
    const process = this.#open(info, this.#processes.start(seriesOf(info)));
    const leftMs = await this.#processes.loaded(process, { waitMs, openMatches: this.#players.size });
    if (process.hasEnded) this.#replaceUnproven(process);
    const other = this.#process;
    if (other === null || other === process) return;
    await this.#processes.loaded(other, { waitMs: leftMs, openMatches: this.#players.size });
  }

  async choose(turn: Turn): Promise<unknown> {
    if (this.#info === null) throw new Error("the match has not begun");
    if (this.#question !== null) this.#fail("the turn was requested again");
    const process = this.#process ?? this.#open(this.#info, this.#processes.fresh());
    if (turn.rejection !== null) this.#isAtFault = true;
    const question = { line: lineOfTurn(turn), answer: Promise.withResolvers<unknown>() };
    this.#question = question;
    const abort = (): void => {
      const fault = this.#process && this.#processes.faultOfStart(this.#process);
      this.#fail(`the turn ended without an answer${fault === null ? "" : `: ${fault}`}`);
    };
    turn.signal.addEventListener("abort", abort);
    process.write(question.line);
    try {
      return await question.answer.promise;
    } finally {
      turn.signal.removeEventListener("abort", abort);
      if (this.#question === question) this.#question = null;
    }
  }

  /** Sends the result, and lets the program end or play the next match. */
  end(result: GameResult): void {
    this.#players.delete(this);
    const [process, info] = [this.#process, this.#info];
    if (process === null || info === null) return;
    process.write({ type: "end", result });
    const isForfeit = result.termination !== "normal" && !winningRoles(info, result).includes(info.role);
    this.#processes.end(process, this.#isAtFault || isForfeit ? null : seriesOf(info));
  }

  close(): void {
    this.#players.delete(this);
    this.#kill();
  }

  /** Terminates the process without further messages. */
  #kill(): void {
    this.#process?.kill();
    this.#process = null;
  }

  /** Begins the match in a process. */
  #open(info: MatchInfo, process: ProgramProcess): ProgramProcess {
    this.#process = process;
    this.#isUnproven = process.hasPlayed;
    this.#isAtFault = false;
    process.read({
      stdout: (text) => this.#receive(process, text),
      stderr: (text) => this.#show(text ?? TOO_LONG),
      closed: (end) => void this.#closed(process, end),
    });
    const { leagueId: league_id, matchId: match_id, epoch, game, options, role, roles } = info;
    process.write({ type: "start", league_id, match_id, epoch, game, options, role, roles });
    return process;
  }

  async #closed(process: ProgramProcess, end: ProcessEnd): Promise<void> {
    if (this.#process !== process || this.#replaceUnproven(process)) return;
    this.#process = null;
    const question = this.#question;
    if (question === null) return;
    await this.#processes.examineEnd(end);
    question.answer.reject(new Error(textOfEnd(end)));
  }

  /** Continues in a fresh process if the present one is unproven. Returns whether it does. */
  #replaceUnproven(process: ProgramProcess): boolean {
    if (this.#info === null || !this.#isUnproven || this.#process !== process) return false;
    process.kill();
    this.#show("the process that has played the match before is replaced, because it has not answered");
    const fresh = this.#open(this.#info, this.#processes.fresh());
    if (this.#question !== null) fresh.write(this.#question.line);
    return true;
  }

  /** Takes a line of stdout as the answer to the open turn; null is a line that is too long. */
  #receive(process: ProgramProcess, text: string | null): void {
    const line = Answer.safeParse(text === null ? undefined : parsedJson(text));
    const question = this.#process === process ? this.#question : null;
    if (line.success && question !== null) {
      this.#processes.answered(process);
      question.answer.resolve(line.data.action);
      this.#question = null; // further lines are not about this turn
      this.#isUnproven = false;
      return;
    }
    this.#show(`stdout: ${text ?? TOO_LONG}`);
    if (this.#process !== process) return; // it is terminated
    // Without a ready line after the match before, the line may belong to that match.
    const isOfThisTurn = question !== null && (!this.#isUnproven || process.isReady);
    if (!isOfThisTurn) this.#processes.disallowMany(process);
    if (question === null || (!isOfThisTurn && this.#replaceUnproven(process))) return;
    this.#fail('the program wrote a line that is not {"action": …}');
  }

  /** Ends the open turn without an action, and the process, whose later lines could otherwise count as answers to later turns. */
  #fail(reason: string): void {
    this.#question?.answer.reject(new Error(reason));
    this.#kill();
  }

  /** Shows a line of the program with its match. */
  #show(text: string): void {
    this.#log(`${this.#info?.leagueId} ${this.#info?.matchId}: ${cutTo(MAX_SHOWN, inOneLine(text))}`);
  }
}

/** A process plays further matches of the same league and game only. */
const seriesOf = ({ leagueId, game }: MatchInfo): string => `${leagueId} ${game}`;

/** `seed` is the same in every run with the same seed of the league. */
const lineOfTurn = ({ tick, view, legal, clock, random }: Turn): object => ({
  type: "turn",
  tick,
  view,
  legal,
  deadline: clock.deadline.toISOString(),
  remaining_ms: Math.round(clock.remainingMs()),
  ...(clock.match && { clock: clockFields(clock.match) }),
  seed: random.int(0, 2 ** 31 - 1),
});

const clockFields = ({ initialMs, incrementMs, remainingMs }: MatchClocks): ClockState => ({
  initial_ms: initialMs,
  increment_ms: incrementMs,
  remaining_ms: { ...remainingMs },
});

function textOfEnd(end: ProcessEnd): string {
  if (end instanceof Error) return `the program does not start: ${messageOf(end)}`;
  const { code, signal } = end;
  if (code === NOT_FOUND) return "the command of the program was not found";
  return `the program ended ${signal === null ? `with code ${code}` : `by ${signal}`}`;
}

/** Returns the command of a source file. A compiler writes the program to `out`. */
type Language = (file: string, out: string) => { readonly build?: readonly string[]; readonly run: readonly string[] };

const LANGUAGES: Readonly<Record<ProgramEnding, Language>> = {
  ".py": (file) => ({ run: [process.platform === "win32" ? "python" : "python3", file] }),
  // With a go.mod, the bot may have several files.
  ".go": (file, out) => ({
    build: ["go", "build", "-o", out, existsSync(join(dirname(file), "go.mod")) ? "." : file],
    run: [out],
  }),
};

/**
 * Loads a program that plays by lines of JSON from its file, which settings such as `#start_ms=N` may follow. It runs in the folder of the file.
 * Throws StartError (exit code 3) if the file cannot be compiled or started.
 */
export async function programBot(
  given: string,
  clock: Clock,
  home: Pick<BotHome, "warn" | "fail">,
): Promise<LoadedBot> {
  const { program: spec, startMs, matches } = programIn(given);
  const file = resolve(spec);
  const ending = extname(file);
  const language = isProgramEnding(ending) ? LANGUAGES[ending] : null;
  if (!language && !isExecutable(file)) {
    throw new StartError(`${spec} is not executable: use chmod +x, or give its command as lines:COMMAND`, EXIT.config);
  }
  const folder = dirname(file);
  const target = mkdtempSync(join(tmpdir(), "league-bot-"));
  const remove = (): void => rmSync(target, { recursive: true, force: true });
  try {
    const { build, run } = language?.(file, join(target, "bot")) ?? { run: [file] };
    if (build) await compile(spec, build, folder);
    const bot = await linesBot(linesSpec(run, folder, startMs, matches), clock, home);
    const close = async (): Promise<void> => {
      await bot.close?.();
      remove();
    };
    return { ...bot, name: spec, hash: hashOfFiles(folder, [file]), close };
  } catch (thrown) {
    remove();
    throw thrown;
  }
}

async function compile(spec: string, [compiler = "", ...args]: readonly string[], folder: string): Promise<void> {
  const failed = Promise.withResolvers<void>();
  execFile(compiler, args, { cwd: folder }, (error, stdout, stderr) => {
    if (!error) failed.resolve();
    else if (error.code === "ENOENT")
      failed.reject(new StartError(`${spec}: ${compiler} is not installed`, EXIT.config));
    else failed.reject(new StartError(`${spec} does not compile:\n${`${stdout}${stderr}`.trim()}`, EXIT.config));
  });
  await failed.promise;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
