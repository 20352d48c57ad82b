import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { chess } from "#shared/games/chess.ts";
import type { LoadedBot } from "../loaded-bot.ts";
import type { Turn } from "../sdk.ts";
import { uciBot } from "./uci.ts";

/** An engine that speaks UCI and always plays the first of the moves it is given for the position. */
const ENGINE = `
import { createInterface } from "node:readline";
const say = (line) => console.log(line);
let fen = "";
createInterface({ input: process.stdin }).on("line", (line) => {
  if (line === "uci") { say("id name Test"); say("uciok"); }
  if (line === "isready") say("readyok");
  if (line.startsWith("position fen ")) fen = line.slice(13);
  if (line.startsWith("go")) { say("info depth 1 " + line); say("bestmove " + (fen.includes(" w ") ? "e2e4" : "e7e5") + " ponder a2a3"); }
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
const turn = (view: { readonly fen: string }): Turn => ({ game: "chess.v1", view }) as unknown as Turn;

describe("uci:COMMAND", () => {
  test("plays chess only, asking the engine for each position; searches wait for each other", async () => {
    bot = await uciBot(engine(ENGINE));
    expect(bot.games).toEqual(["chess.v1"]);
    const player = bot.create();
    const after = chess.applyAction(start, "white", "e2e4");
    if (!after.ok) throw new Error("e2e4 is legal");
    const both = [player.choose(turn(start)), player.choose(turn(after.value))];
    expect(await Promise.all(both)).toEqual(["e2e4", "e7e5"]);
  });

  test("nodes limit the search, so that a seed repeats a run", async () => {
    const command = engine(ENGINE.replace('"bestmove "', '"bestmove " + line.replaceAll(" ", "_") + " " '));
    bot = await uciBot(`${command}#nodes=77`);
    expect(await bot.create().choose(turn(start))).toBe("go_nodes_77");
  });

  test("a command that is no engine is told with its name", async () => {
    await expect(uciBot("no-such-engine-at-all")).rejects.toThrow(/engine "no-such-engine-at-all" ended with code 127/);
  });

  test("an engine that dies fails the search, and the searches after it, at once", async () => {
    bot = await uciBot(
      engine(ENGINE.replace('if (line.startsWith("go"))', 'if (line.startsWith("go")) process.exit(3);\n  if (false)')),
    );
    const player = bot.create();
    await expect(player.choose(turn(start))).rejects.toThrow(/ended with code 3/);
    await expect(player.choose(turn(start))).rejects.toThrow(/ended with code 3/);
  });
});
