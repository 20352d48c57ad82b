import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { messageOf } from "#shared/lib/result.ts";
import { EXIT, StartError } from "#shared/runtime/exit.ts";
import type { LoadedBot } from "../loaded-bot.ts";
import type { Turn } from "../sdk.ts";

const HANDSHAKE_MS = 10_000;
/** Limited by nodes, not by time, so that a seed repeats a run. */
const DEFAULT_NODES = 10_000;

/**
 * A chess engine that speaks UCI as a bot: `uci:COMMAND`, with `#nodes=N` at the end for another limit. One process serves all
 * matches, one search at a time. StartError when the command does not answer `uciok`.
 */
export async function uciBot(spec: string): Promise<LoadedBot> {
  const [, command = spec, nodes] = /^(.*?)(?:#nodes=(\d+))?$/.exec(spec) ?? [];
  const engine = await openEngine(command.trim());
  const limit = Number(nodes ?? DEFAULT_NODES);
  let queue: Promise<unknown> = Promise.resolve();
  const search = (fen: string): Promise<string> => {
    const searched = queue.then(() => engine.bestMove(fen, limit));
    queue = searched.catch(() => {});
    return searched;
  };
  return {
    name: `uci:${command}`,
    games: ["chess.v1"],
    file: null,
    looksBack: false,
    create: () => ({ choose: (turn) => search((turn as Turn<"chess.v1">).view.fen) }),
    close: async () => engine.quit(),
  };
}

interface Engine {
  bestMove(fen: string, nodes: number): Promise<string>;
  quit(): void;
}

async function openEngine(command: string): Promise<Engine> {
  const engine = spawn(command, { shell: true, stdio: ["pipe", "pipe", "ignore"] });
  let failed: string | null = null;
  let waiting: {
    readonly wanted: RegExp;
    readonly resolve: (line: string) => void;
    readonly reject: (error: Error) => void;
  } | null = null;
  const fail = (why: string): void => {
    failed ??= why;
    waiting?.reject(new Error(failed));
    waiting = null;
  };
  engine.on("error", (error) => fail(`engine "${command}" does not start: ${error.message}`));
  engine.on("exit", (code) => fail(`engine "${command}" ended with code ${code}`));
  engine.stdin.on("error", () => {}); // its exit tells why
  createInterface({ input: engine.stdout }).on("line", (line) => {
    if (!waiting?.wanted.test(line)) return;
    waiting.resolve(line);
    waiting = null;
  });
  const ask = (text: string, wanted: RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      if (failed) return reject(new Error(failed));
      waiting = { wanted, resolve, reject };
      engine.stdin.write(`${text}\n`);
    });

  const timer = setTimeout(() => fail(`engine "${command}" did not answer uciok in ${HANDSHAKE_MS} ms`), HANDSHAKE_MS);
  try {
    await ask("uci", /^uciok\b/);
  } catch (thrown) {
    end(engine);
    throw new StartError(messageOf(thrown), EXIT.config);
  } finally {
    clearTimeout(timer);
  }
  return {
    async bestMove(fen, nodes) {
      await ask("ucinewgame\nisready", /^readyok\b/);
      const line = await ask(`position fen ${fen}\ngo nodes ${nodes}`, /^bestmove\b/);
      return line.split(/\s+/)[1] ?? "";
    },
    quit: () => end(engine),
  };
}

function end(engine: ChildProcess): void {
  engine.stdin?.end("quit\n");
  engine.kill();
}
