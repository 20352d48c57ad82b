import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach } from "vitest";
import { type Clock, systemClock } from "#shared/lib/clock.ts";
import { createRandom } from "#shared/lib/rng.ts";
import { type ManualClock, manualClock } from "#shared/lib/testing/clock.ts";
import type { LoadedBot, MatchBot } from "../loaded-bot.ts";
import { linesBot, linesSpec } from "../loaders/lines.ts";
import type { GameResult, MatchInfo, Turn } from "../sdk.ts";

export const INFO: MatchInfo = {
  leagueId: "rps",
  matchId: "R1M1",
  epoch: 1,
  game: "rps.v1",
  options: { best_of: 3 },
  role: "player_1",
  roles: { player_1: "P01", player_2: "P02" },
  seedCommitment: "",
};
export const RESULT = { league_id: "rps", match_id: "R1M1", winner: "P01" } as unknown as GameResult;

/** Only the second turn has clocks. */
const clocks = { initialMs: 60_000, incrementMs: 0, remainingMs: { player_1: 59_000, player_2: 60_000 } };

/** Programs that play by lines, in a temporary folder for each test of a file. */
export function linePrograms() {
  let folder = "";
  const bots: LoadedBot[] = [];
  /** The lines of the matches. */
  const shown: string[] = [];
  /** The messages of programs that turned out not to start. */
  const failures: string[] = [];
  /** The warnings about programs. */
  const warnings: string[] = [];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "lines-"));
  });
  afterEach(async () => {
    for (const bot of bots.splice(0)) await bot.close?.();
    rmSync(folder, { recursive: true, force: true });
    shown.length = 0;
    failures.length = 0;
    warnings.length = 0;
  });

  /** Loads a program. It is closed at the end of the test. */
  async function loadSpec(
    spec: string,
    clock: Clock = systemClock,
    fail: (error: Error) => void = ({ message }) => void failures.push(message),
  ): Promise<LoadedBot> {
    const bot = await linesBot(spec, clock, { fail, warn: (line) => void warnings.push(line) });
    bots.push(bot);
    return bot;
  }

  /** Loads a program that calls `answer(message)` for each line that it reads. */
  async function load(answer: string, clock?: ManualClock): Promise<LoadedBot> {
    const source = `
import { createInterface } from "node:readline";
import { appendFileSync } from "node:fs";
const say = (value) => console.log(typeof value === "string" ? value : JSON.stringify(value));
createInterface({ input: process.stdin }).on("line", (line) => {
  appendFileSync("lines.txt", line + "\\n");
  const message = JSON.parse(line);
  ${answer}
});`;
    writeFileSync(join(folder, "bot.mjs"), source);
    return loadSpec(linesSpec([process.execPath, "bot.mjs"], folder), clock);
  }

  function begin(loaded: LoadedBot): MatchBot {
    const player = loaded.create((line) => void shown.push(line));
    void player.start?.(INFO);
    return player;
  }

  const turn = (tick: number, signal = new AbortController().signal): Turn =>
    ({
      game: "rps.v1",
      role: "player_1",
      view: { round: tick + 1 },
      legal: ["rock", "paper"],
      tick,
      signal,
      history: [],
      rejection: null,
      random: createRandom(`test/${tick}`),
      clock: { deadline: new Date(0), remainingMs: () => 30_000, match: tick === 1 ? clocks : null },
      log: (line: string) => void shown.push(line),
    }) as unknown as Turn;

  /** The messages that the program of `load` has received. */
  const received = (): Record<string, unknown>[] =>
    readFileSync(pathOf("lines.txt"), "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));

  const pathOf = (name: string): string => join(folder, name);
  return { shown, failures, warnings, pathOf, folder: () => folder, load, loadSpec, begin, turn, received };
}

/** A clock that never ends the start time, so that the test does not depend on the speed of the machine. */
export const patient = () => manualClock();

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
