import { writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { childrenOf, launch, type Measured, measure, type Rate, sleep, temporaryFolder } from "../process.ts";
import type { LocalCount } from "./local.ts";

/** The rates of `league match` without HTTP. */
export interface LocalRates {
  /** Actions of rps between two built-in bots. */
  readonly builtIn: Rate;
  /** Actions of rps between two bots of files, each in a process of its own. */
  readonly files: Rate;
  /** Games of rps between two programs in Python, the starters of `league new-bot`. */
  readonly python: Rate;
  /** Games of chess with 60 plies between random bots. */
  readonly chess: Rate;
  /** Plies of chess between two UCI engines that search for no time. */
  readonly engines: Rate;
}

interface Shape {
  readonly game: string;
  readonly options: object;
  readonly concurrency: number;
  readonly bots: readonly [string, string];
  readonly counts: keyof LocalCount;
}

/** A bot of a file that does what the built-in bot `random` does. */
const BOT = "export default ({ legal, random }) => random.pick(legal);\n";

const PYTHON = fileURLToPath(new URL("../../starters/py/bot.py", import.meta.url));
const ENGINE = `uci:${JSON.stringify({ command: [process.execPath, join(import.meta.dirname, "uci-engine.ts")] })}`;

/** Measures games that are played as `league match` plays them. */
export async function localRates(
  pace: { readonly warmupMs: number; readonly windowMs: number },
  log: (step: string) => void,
): Promise<LocalRates> {
  const file = join(temporaryFolder(), "bot.mjs");
  writeFileSync(file, BOT);
  const rate = async (what: string, shape: Shape): Promise<Rate> => {
    log(`league match, ${what}`);
    const { game, options, concurrency, bots, counts } = shape;
    const args = [game, JSON.stringify(options), String(concurrency), ...bots];
    const player = await launch("scripts/bench/matches/local.ts", args);
    await sleep(pace.warmupMs);
    const files = childrenOf(player.pid).map((pid): Measured => ({ ...player, pid }));
    const count = async (): Promise<number> => (await player.ask<LocalCount>("count"))[counts];
    const measured = await measure(pace.windowMs, count, { match: [player], ...(files.length > 0 && { bots: files }) });
    await player.stop();
    return measured;
  };
  const rps = { game: "rps.v1", options: { best_of: 9 }, counts: "actions" } as const;
  return {
    builtIn: await rate("built-in bots", { ...rps, concurrency: 1, bots: ["random", "random"] }),
    files: await rate("bots of files", { ...rps, concurrency: 16, bots: [file, file] }),
    python: await rate("programs in Python", {
      ...rps,
      counts: "games",
      concurrency: availableParallelism(),
      bots: [PYTHON, PYTHON],
    }),
    chess: await rate("chess", {
      game: "chess.v1",
      options: { max_plies: 60 },
      counts: "games",
      concurrency: 1,
      bots: ["random", "random"],
    }),
    engines: await rate("engines", {
      game: "chess.v1",
      options: { max_plies: 24 },
      counts: "actions",
      concurrency: 2,
      bots: [ENGINE, ENGINE],
    }),
  };
}
