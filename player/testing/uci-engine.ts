/**
 * A UCI engine for tests: `node uci-engine.ts FILE [SETTING=VALUE…]`. It appends each line that it reads to FILE, after its process id. It does
 * not know the rules of chess, so that it starts quickly. Settings:
 * - `moves`: its answers, with commas between them, the last one also to all further searches; default: a2a3;
 * - `score`: the score that it reports, like "cp 35";
 * - `first`: its behaviour in the first search of all its processes: `exit`, `hang` (it does not even answer `stop`) or `wait` (it answers
 *   after `stop`);
 * - `nodes`: the number of positions that it reports before it waits;
 * - `habit`: `wordy` (writes a line of two million characters before each answer), `indented` (lines that begin and end with spaces and tabs),
 *   `twice` (answers each search, and again to the next command that it reads), `saves` (writes FILE.saved half a second after `quit`) or `stays` (ignores `quit`);
 * - `silent`: a command that it does not answer, `uci` or `isready`;
 * - `stuck`: a command after which it answers nothing.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [, , file = "", ...pairs] = process.argv;
const settings = new Map(pairs.map((pair) => pair.split("=", 2) as [string, string]));
const habit = settings.get("habit");
const shown = (line: string): string => (habit === "indented" ? `\uFEFF  ${line.replaceAll(" ", "\t ")} \r` : line);
const say = (lines: string): void => void process.stdout.write(`${lines.split("\n").map(shown).join("\n")}\n`);
let isRepeated = false;
let isStuck = false;
const moves = (settings.get("moves") ?? "a2a3").split(",");
let answer: (() => void) | null = null;

const OPTIONS = `option name Hash type spin default 16 min 1 max 1024
option name Ponder type check default false
option name Style type combo default Solid var Solid var Very Wild
option name Clear Hash type button
option name Book File type string default <empty>`;

function search(line: string): void {
  const isFirst = readFileSync(file, "utf8").match(/ go /g)?.length === 1;
  const best = (): void => {
    answer = null;
    if (habit === "wordy") say(`info string ${"x".repeat(2_000_000)}`);
    say(`info depth 1 score cp 9999 lowerbound nodes 1 ${line}`);
    if (settings.has("score")) say(`info depth 2 score ${settings.get("score")} nodes 9 pv x`);
    say(`info depth 2 multipv 2 score cp -7777 nodes 9`);
    say(`bestmove ${moves.length > 1 ? moves.shift() : moves[0]} ponder a2a3`);
    isRepeated = habit === "twice";
  };
  const first = isFirst ? settings.get("first") : undefined;
  if (first === "exit") {
    process.stderr.write("Segmentation fault, as a test\n", () => process.exit(3));
  } else if (first === "wait") {
    answer = best;
    if (settings.has("nodes")) say(`info depth 9 nodes ${settings.get("nodes")}`);
  } else if (first === "hang") {
    setInterval(() => {}, 1_000_000); // it also stays when its input ends
  } else {
    best();
  }
}

createInterface({ input: process.stdin }).on("line", (line) => {
  appendFileSync(file, `${process.pid} ${line}\n`);
  isStuck ||= line === settings.get("stuck");
  if (line === settings.get("silent") || (isStuck && line !== "quit")) return;
  if (isRepeated) say("bestmove h2h4");
  isRepeated = false;
  if (line === "uci") say(`id name Scripted\n${OPTIONS}\nuciok`);
  if (line === "isready") say("readyok");
  if (line.startsWith("go")) search(line);
  if (line === "stop") answer?.();
  if (line === "quit" && habit === "saves")
    setTimeout(() => process.exit(appendFileSync(`${file}.saved`, "data") ?? 0), 500);
  else if (line === "quit" && habit !== "stays") process.exit();
  if (habit === "stays") setInterval(() => {}, 1_000_000);
});
