import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { GameId } from "#shared/games/registry.ts";
import type { Cancel, Clock } from "#shared/lib/clock.ts";
import { messageOf } from "#shared/lib/result.ts";
import { UCI_NODES } from "#shared/runtime/defaults.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import type { LoadedBot } from "../loaded-bot.ts";
import type { Turn } from "../sdk.ts";

/** The games of the Universal Chess Interface (UCI). */
export const UCI_GAMES: readonly GameId[] = ["chess.v1"];

const HANDSHAKE_MS = 10_000;
/** The time that an engine has to end a search after `stop`. */
const STOP_MS = 1_000;

/**
 * Starts a UCI chess engine as a bot. `spec` is the shell command, with `#nodes=N` at the end for another search limit. One process
 * serves all matches, one search at a time. If the process has ended, the next search starts another one, so that a position that
 * crashes the engine costs only its own match. Throws StartError if the command does not answer `uciok`.
 */
export async function uciBot(spec: string, clock: Clock): Promise<LoadedBot> {
  const [, wanted = spec, nodes] = /^(.*?)(?:#nodes=(\d+))?$/.exec(spec) ?? [];
  const command = wanted.trim();
  const closing = new AbortController();
  let engine = await openEngine(command, closing.signal, clock);
  const limit = Number(nodes ?? UCI_NODES);
  let queue: Promise<unknown> = Promise.resolve();
  const search = ({ view, signal }: Turn<"chess.v1">): Promise<string> => {
    const searched = queue.then(async () => {
      if (signal.aborted) throw new Error("the turn ended before its search began");
      closing.signal.throwIfAborted();
      if (!engine.isUp()) engine = await openEngine(command, closing.signal, clock);
      return engine.bestMove(view.fen, limit, signal);
    });
    queue = searched.catch(() => {});
    return searched;
  };
  return {
    name: `uci:${wanted}`,
    games: UCI_GAMES,
    readsHistory: false,
    create: () => ({ choose: (turn) => search(turn as Turn<"chess.v1">) }),
    close: async () => closing.abort(),
  };
}

interface Engine {
  isUp(): boolean;
  /** Resolves with the best move when the search is over or `signal` is aborted. Terminates an engine that ignores `stop`. */
  bestMove(fen: string, nodes: number, signal: AbortSignal): Promise<string>;
}

/** The exit code of a shell that does not find the command. */
const NOT_FOUND = 127;

function endOf(command: string, code: number | null, signal: string | null): string {
  if (code === NOT_FOUND) return `there is no engine "${command}": install it, or give its path`;
  return `engine "${command}" ended ${signal === null ? `with code ${code}` : `by ${signal}`}`;
}

/** Starts an engine process, which runs until `closing` is aborted. Throws StartError if it does not answer `uciok`. */
async function openEngine(command: string, closing: AbortSignal, clock: Clock): Promise<Engine> {
  const engine = spawn(command, { shell: true, stdio: ["pipe", "pipe", "ignore"] });
  let failure: string | null = null;
  let waiting: {
    readonly wanted: RegExp;
    readonly resolve: (line: string) => void;
    readonly reject: (error: Error) => void;
  } | null = null;
  const quit = (): void => end(engine);
  closing.addEventListener("abort", quit);
  const fail = (reason: string): void => {
    closing.removeEventListener("abort", quit);
    failure ??= reason;
    waiting?.reject(new Error(failure));
    waiting = null;
  };
  engine.on("error", (error) => fail(`engine "${command}" does not start: ${error.message}`));
  engine.on("exit", (code, signal) => fail(endOf(command, code, signal)));
  engine.stdin.on("error", () => {}); // the exit event reports the cause
  createInterface({ input: engine.stdout }).on("line", (line) => {
    if (!waiting?.wanted.test(line)) return;
    waiting.resolve(line);
    waiting = null;
  });
  const ask = (text: string, wanted: RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      if (failure) return reject(new Error(failure));
      waiting = { wanted, resolve, reject };
      engine.stdin.write(`${text}\n`);
    });

  const timeout = `engine "${command}" did not answer uciok in ${HANDSHAKE_MS} ms`;
  const cancelLimit = clock.after(HANDSHAKE_MS, () => fail(timeout));
  try {
    await ask("uci", /^uciok\b/);
  } catch (thrown) {
    quit();
    throw new StartError(messageOf(thrown), EXIT.config);
  } finally {
    cancelLimit();
  }
  return {
    isUp: () => failure === null,
    async bestMove(fen, nodes, signal) {
      let cancelStop: Cancel | undefined;
      const terminate = (): void => {
        quit();
        fail(`engine "${command}" did not stop in ${STOP_MS} ms`);
      };
      const stop = (): void => {
        engine.stdin.write("stop\n");
        cancelStop = clock.after(STOP_MS, terminate);
      };
      signal.addEventListener("abort", stop);
      try {
        await ask("ucinewgame\nisready", /^readyok\b/);
        signal.throwIfAborted();
        const line = await ask(`position fen ${fen}\ngo nodes ${nodes}`, /^bestmove\b/);
        return line.split(/\s+/)[1] ?? "";
      } finally {
        signal.removeEventListener("abort", stop);
        cancelStop?.();
      }
    },
  };
}

function end(engine: ChildProcess): void {
  engine.stdin?.end("quit\n");
  engine.kill();
}
