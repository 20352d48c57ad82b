import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { chess } from "#shared/games/chess.ts";
import { systemClock } from "#shared/lib/clock.ts";
import type { LoadedBot } from "../loaded-bot.ts";
import type { Turn } from "../sdk.ts";
import { uciBot } from "./uci.ts";

/** A UCI engine that answers e2e4 when white is to move and e7e5 when black is. */
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
  test("plays chess only, asks the engine for each position and runs one search at a time", async () => {
    bot = await uciBot(engine(ENGINE), systemClock);
    expect(bot.games).toEqual(["chess.v1"]);
    const player = bot.create(() => {});
    const after = chess.applyAction(start, "white", "e2e4");
    if (!after.ok) throw new Error("e2e4 is legal");
    const both = [player.choose(turn(start)), player.choose(turn(after.value))];
    expect(await Promise.all(both)).toEqual(["e2e4", "e7e5"]);
  });

  test("#nodes=N limits the nodes of a search, so that a run can be repeated with its seed", async () => {
    const command = engine(ENGINE.replace('"bestmove "', '"bestmove " + line.replaceAll(" ", "_") + " " '));
    bot = await uciBot(`${command}#nodes=77`, systemClock);
    expect(await bot.create(() => {}).choose(turn(start))).toBe("go_nodes_77");
  });

  test("reports a command that does not exist with its name", async () => {
    await expect(uciBot("no-such-engine-at-all", systemClock)).rejects.toThrow(
      /^there is no engine "no-such-engine-at-all": install it/,
    );
  });

  /** The command of an engine that runs `code` instead of its first search, which counts over all its processes. */
  const withFirstSearch = (code: string): string =>
    engine(
      ENGINE.replace(
        'if (line.startsWith("go"))',
        `if (line.startsWith("go") && begins()) { ${code} } else $&`,
      ).replace(
        "const say",
        `import { existsSync, writeFileSync } from "node:fs";
const mark = new URL("begun", import.meta.url);
const begins = () => !existsSync(mark) && (writeFileSync(mark, ""), true);
const say`,
      ),
    );

  test("an engine that exits fails its search and is started again for the next one", async () => {
    bot = await uciBot(withFirstSearch("process.exit(3);"), systemClock);
    const player = bot.create(() => {});
    const both = await Promise.allSettled([player.choose(turn(start)), player.choose(turn(start))]);
    const exited = expect.objectContaining({ message: expect.stringContaining("ended with code 3") });
    expect(both).toEqual([
      { status: "rejected", reason: exited },
      { status: "fulfilled", value: "e2e4" },
    ]);
  });

  /** Runs three searches and ends the turns of the first two when the first search has begun. Returns moves or error messages. */
  async function searchThree(engine: LoadedBot): Promise<unknown[]> {
    const player = engine.create(() => {});
    const over = new AbortController();
    const turns = [turn(start, over.signal), turn(start, over.signal), turn(start)];
    const searches = Promise.allSettled(turns.map((turn) => player.choose(turn)));
    await vi.waitFor(() => expect(existsSync(join(folder, "begun"))).toBe(true), { timeout: 10_000 });
    over.abort();
    return (await searches).map((one) => (one.status === "fulfilled" ? one.value : one.reason.message));
  }
  const SKIPPED = "the turn ended before its search began";

  test("stops the search of a turn that is over and skips a search that has not begun", async () => {
    bot = await uciBot(withFirstSearch('onStop = () => say("bestmove d2d4");'), systemClock);
    expect(await searchThree(bot)).toEqual(["d2d4", SKIPPED, "e2e4"]);
  });

  test("an engine that does not obey `stop` is terminated, and the next search starts another process", async () => {
    bot = await uciBot(withFirstSearch(""), systemClock);
    expect(await searchThree(bot)).toEqual([expect.stringContaining("did not stop"), SKIPPED, "e2e4"]);
  });
});
