import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { chess } from "#shared/games/chess.ts";
import { systemClock } from "#shared/lib/clock.ts";
import type { LoadedBot } from "../loaded-bot.ts";
import type { Turn } from "../sdk.ts";
import { uciBot } from "./uci.ts";

/** An engine that speaks UCI and always plays the first of the moves it is given for the position. */
const ENGINE = `
import { createInterface } from "node:readline";
const say = (line) => console.log(line);
let fen = "";
let onStop = () => {};
createInterface({ input: process.stdin }).on("line", (line) => {
  if (line === "uci") { say("id name Test"); say("uciok"); }
  if (line === "isready") say("readyok");
  if (line.startsWith("position fen ")) fen = line.slice(13);
  if (line.startsWith("go")) { say("info depth 1 " + line); say("bestmove " + (fen.includes(" w ") ? "e2e4" : "e7e5") + " ponder a2a3"); }
  if (line === "stop") onStop();
  if (line === "quit") process.exit();
});
`;

let folder = "";
let bot: LoadedBot | undefined;
const engine = (source: string): string => {
  folder = mkdtempSync(join(tmpdir(), "uci-"));
  writeFileSync(join(folder, "engine.mjs"), source);
  return `"${process.execPath}" "${join(folder, "engine.mjs")}"`;
};
afterEach(async () => {
  await bot?.close?.();
  bot = undefined;
  rmSync(folder, { recursive: true, force: true });
});

const start = chess.initialState({ options: chess.options.parse({}), seed: "" });
const turn = (view: { readonly fen: string }, signal = new AbortController().signal): Turn =>
  ({ game: "chess.v1", view, signal }) as unknown as Turn;

describe("uci:COMMAND", () => {
  test("plays chess only, asking the engine for each position; searches wait for each other", async () => {
    bot = await uciBot(engine(ENGINE), systemClock);
    expect(bot.games).toEqual(["chess.v1"]);
    const player = bot.create();
    const after = chess.applyAction(start, "white", "e2e4");
    if (!after.ok) throw new Error("e2e4 is legal");
    const both = [player.choose(turn(start)), player.choose(turn(after.value))];
    expect(await Promise.all(both)).toEqual(["e2e4", "e7e5"]);
  });

  test("nodes limit the search, so that a seed repeats a run", async () => {
    const command = engine(ENGINE.replace('"bestmove "', '"bestmove " + line.replaceAll(" ", "_") + " " '));
    bot = await uciBot(`${command}#nodes=77`, systemClock);
    expect(await bot.create().choose(turn(start))).toBe("go_nodes_77");
  });

  test("a command that is no engine is told with its name", async () => {
    await expect(uciBot("no-such-engine-at-all", systemClock)).rejects.toThrow(
      /^there is no engine "no-such-engine-at-all": install it/,
    );
  });

  /** Replaces what the engine does with `go`, the first time that any process of it gets one. */
  const atFirst = (what: string): string =>
    engine(
      ENGINE.replace(
        'if (line.startsWith("go"))',
        `if (line.startsWith("go") && begins()) { ${what} } else $&`,
      ).replace(
        "const say",
        `import { existsSync, writeFileSync } from "node:fs";
const mark = new URL("begun", import.meta.url);
const begins = () => !existsSync(mark) && (writeFileSync(mark, ""), true);
const say`,
      ),
    );

  test("an engine that dies fails the search, and is started again for the next one", async () => {
    bot = await uciBot(atFirst("process.exit(3);"), systemClock);
    const player = bot.create();
    const both = await Promise.allSettled([player.choose(turn(start)), player.choose(turn(start))]);
    const died = expect.objectContaining({ message: expect.stringContaining("ended with code 3") });
    expect(both).toEqual([
      { status: "rejected", reason: died },
      { status: "fulfilled", value: "e2e4" },
    ]);
  });

  /** Three searches; the turns of the first two are over once the first has begun. */
  async function searched(engine: LoadedBot): Promise<unknown[]> {
    const player = engine.create();
    const over = new AbortController();
    const turns = [turn(start, over.signal), turn(start, over.signal), turn(start)];
    const searches = Promise.allSettled(turns.map((one) => player.choose(one)));
    await vi.waitFor(() => expect(existsSync(join(folder, "begun"))).toBe(true), { timeout: 10_000 });
    over.abort();
    return (await searches).map((one) => (one.status === "fulfilled" ? one.value : one.reason.message));
  }
  const SKIPPED = "the turn was over before the engine came to it";

  test("a search whose turn is over is stopped, and one that has not begun is left out", async () => {
    bot = await uciBot(atFirst('onStop = () => say("bestmove d2d4");'), systemClock);
    expect(await searched(bot)).toEqual(["d2d4", SKIPPED, "e2e4"]);
  });

  test("an engine that does not stop when it is told to is ended, and the next search has another", async () => {
    bot = await uciBot(atFirst(""), systemClock);
    expect(await searched(bot)).toEqual([expect.stringContaining("did not stop"), SKIPPED, "e2e4"]);
  });
});
