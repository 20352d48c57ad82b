import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { z } from "zod";
import type { Clock } from "#shared/lib/clock.ts";
import { cutTo, inOneLine, parsedJson } from "#shared/lib/text.ts";
import type { ClockState } from "#shared/lib/time-control.ts";
import type { GameResult } from "#shared/protocol/messages.ts";
import { readLines } from "#shared/rpc/stdio/stdio-lines.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { hashOfCommand } from "../bot-hash.ts";
import type { LoadedBot, MatchBot } from "../loaded-bot.ts";
import type { MatchClocks, MatchInfo, Turn } from "../sdk.ts";
import { type Program, ProgramProcesses } from "./program-processes.ts";

/** A program that plays by lines of JSON, as `linesSpec` writes it. */
const ProgramSpec = z.strictObject({ command: z.union([z.string(), z.array(z.string()).min(1)]), folder: z.string() });

/** Begins the text that selects a program as a bot. */
export const LINES_PREFIX = "lines:";

const MAX_LINE_BYTES = 1_000_000;
/** The exit code of a shell that does not find the command. */
const NOT_FOUND = 127;
/** The maximum number of characters of a line of output that are shown. */
const MAX_SHOWN = 1_000;

/** The longest time for which the answer to an invitation waits for a program that prints a ready line. After it the first turn waits. */
const READY_MS = 3_000;

const Ready = z.object({ ready: z.literal(true) });
const Answer = z.object({ action: z.unknown() }).refine((answer) => "action" in answer);

/** The text that selects a program of a config as a bot. */
export const linesSpec = (command: readonly string[], folder: string): string =>
  `${LINES_PREFIX}${JSON.stringify({ command, folder })}`;

/**
 * A program as a bot. One process plays one match: it reads a line of JSON for the start, each turn and the end of the match, and answers
 * each turn with a line `{"action": …}` (docs/bots.md). If the process ends before the end of the match, the next turn starts another one.
 * `spec` is `lines:` and a command for the shell, or the text of `linesSpec`. Throws StartError (exit code 3) if the program does not start
 * or soon ends with an error. `onFailure` receives such an error if it occurs later.
 */
export async function linesBot(spec: string, clock: Clock, onFailure: (error: StartError) => void): Promise<LoadedBot> {
  const text = spec.slice(LINES_PREFIX.length).trim();
  if (text === "")
    throw new StartError(`${LINES_PREFIX} names no command, e.g. ${LINES_PREFIX}python3 bot.py`, EXIT.config);
  const parsed = ProgramSpec.safeParse(parsedJson(text));
  const program: Program = parsed.success ? parsed.data : { command: text, folder: process.cwd() };
  const name = typeof program.command === "string" ? program.command : program.command.join(" ");
  const processes = new ProgramProcesses(program, clock, onFailure);
  await processes.load();
  const players = new Set<LinePlayer>();
  return {
    name: `lines:${name}`,
    hash: hashOfCommand(name, program.folder),
    readsHistory: false,
    create: (log) => new LinePlayer(processes, players, log, clock),
    async close() {
      for (const player of players) player.close();
      await processes.close();
    },
  };
}

/** Plays one match. */
class LinePlayer implements MatchBot {
  readonly #processes: ProgramProcesses;
  /** The players of open matches. */
  readonly #players: Set<LinePlayer>;
  #child: ChildProcessWithoutNullStreams | null = null;
  #info: MatchInfo | null = null;
  #answer: PromiseWithResolvers<unknown> | null = null;
  readonly #log: (line: string) => void;
  readonly #clock: Clock;
  /** Resolves when the process has printed its ready line or has ended; null after its first line. */
  #ready: PromiseWithResolvers<void> | null = null;

  constructor(processes: ProgramProcesses, players: Set<LinePlayer>, log: (line: string) => void, clock: Clock) {
    this.#clock = clock;
    this.#processes = processes;
    this.#players = players;
    this.#log = log;
  }

  async start(info: MatchInfo): Promise<void> {
    this.#players.add(this);
    this.#info = info;
    this.#child = this.#open(info);
    if (this.#ready === null || !this.#processes.printsReady) return;
    const waiting = new AbortController();
    await Promise.race([this.#ready.promise, this.#clock.pause(READY_MS, waiting.signal)]);
    waiting.abort();
  }

  async choose(turn: Turn): Promise<unknown> {
    if (this.#info === null) throw new Error("the match has not begun");
    if (this.#answer !== null) this.#fail("the turn was requested again");
    this.#child ??= this.#open(this.#info);
    const answer = Promise.withResolvers<unknown>();
    this.#answer = answer;
    const abort = (): void => this.#fail("the turn ended without an answer");
    turn.signal.addEventListener("abort", abort);
    write(this.#child, lineOfTurn(turn));
    try {
      return await answer.promise;
    } finally {
      turn.signal.removeEventListener("abort", abort);
      if (this.#answer === answer) this.#answer = null;
    }
  }

  /** Sends the result, and lets the program end. */
  end(result: GameResult): void {
    this.#players.delete(this);
    const child = this.#child;
    if (child === null) return;
    write(child, { type: "end", result });
    this.#processes.end(child);
  }

  close(): void {
    this.#players.delete(this);
    this.#kill();
  }

  /** Terminates the process without further messages. */
  #kill(): void {
    this.#child?.kill("SIGKILL");
    this.#child = null;
  }

  #open(info: MatchInfo): ChildProcessWithoutNullStreams {
    const child = this.#processes.start();
    const ready = Promise.withResolvers<void>();
    this.#ready = ready;
    readLines(child.stdout, MAX_LINE_BYTES, {
      line: (text) => this.#receive(text),
      tooLong: () => this.#receive(null),
      end: () => {},
    });
    readLines(child.stderr, MAX_LINE_BYTES, {
      line: (text) => this.#show(text),
      tooLong: () => this.#show(`a line of more than ${MAX_LINE_BYTES} bytes`),
      end: () => {},
    });
    // "close" comes after the last line of stderr, which usually names the cause.
    child.once("close", (code, signal) => {
      ready.resolve();
      if (this.#child !== child) return;
      this.#child = null;
      const answer = this.#answer;
      if (answer !== null)
        void this.#processes.examineEnd(code).then(() => answer.reject(new Error(endOf(code, signal))));
    });
    const { leagueId: league_id, matchId: match_id, epoch, game, options, role, roles } = info;
    write(child, { type: "start", league_id, match_id, epoch, game, options, role, roles });
    return child;
  }

  /** Takes a line of stdout as the answer to the open turn; null is a line that is too long. */
  #receive(text: string | null): void {
    const line = text === null ? undefined : parsedJson(text);
    const ready = this.#ready;
    this.#ready = null; // only the first line of a process can be its ready line
    if (ready !== null && Ready.safeParse(line).success) {
      this.#processes.printsReady = true;
      ready.resolve();
      return;
    }
    const answer = Answer.safeParse(line);
    if (answer.success && this.#answer !== null) {
      this.#processes.answered();
      this.#answer.resolve(answer.data.action);
      this.#answer = null; // further lines are not about this turn
      return;
    }
    this.#show(`stdout: ${text ?? `a line of more than ${MAX_LINE_BYTES} bytes`}`);
    if (this.#answer !== null) this.#fail('the program wrote a line that is not {"action": …}');
  }

  /** Ends the open turn without an action, and the process, whose later lines could otherwise count as answers to later turns. */
  #fail(reason: string): void {
    this.#answer?.reject(new Error(reason));
    this.#kill();
  }

  /** Shows a line of the program with its match. */
  #show(text: string): void {
    this.#log(`${this.#info?.leagueId} ${this.#info?.matchId}: ${cutTo(MAX_SHOWN, inOneLine(text))}`);
  }
}

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

const write = ({ stdin }: ChildProcessWithoutNullStreams, line: object): void =>
  void stdin.write(`${JSON.stringify(line)}\n`);

function endOf(code: number | null, signal: string | null): string {
  if (code === NOT_FOUND) return "the command of the program was not found";
  return `the program ended ${signal === null ? `with code ${code}` : `by ${signal}`}`;
}
