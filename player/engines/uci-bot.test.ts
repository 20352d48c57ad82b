import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type ChessState, chess } from "#shared/games/chess.ts";
import { applyLegal } from "#shared/games/contract/play.ts";
import { systemClock } from "#shared/lib/clock.ts";
import { manualClock } from "#shared/lib/testing/clock.ts";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import type { LoadedBot, MatchBot } from "../loaded-bot.ts";
import type { MatchClocks, MatchInfo, Turn } from "../sdk.ts";
import { hashOf, uciBot } from "./uci-bot.ts";
import { settingsIn } from "./uci-spec.ts";

const PROGRAM = fileURLToPath(new URL("../testing/uci-engine.ts", import.meta.url));

let folder = "";
let bots: LoadedBot[] = [];
const log = (): string => join(folder, "log");
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "uci-"));
  writeFileSync(log(), "");
});
afterEach(async () => {
  for (const bot of bots) await bot.close?.();
  bots = [];
  rmSync(folder, { recursive: true, force: true });
});

/** The settings of a scripted engine. */
const engine = (settings: readonly string[] = [], fields: object = {}): string =>
  `uci:${JSON.stringify({ command: [process.execPath, PROGRAM, log(), ...settings], ...fields })}`;

async function load(spec: string, clock = systemClock): Promise<LoadedBot> {
  const bot = await uciBot(spec, clock);
  bots.push(bot);
  return bot;
}

/** Starts a match of an engine, with options of chess. */
async function begin(bot: LoadedBot, options: object = {}): Promise<MatchBot> {
  const match = bot.create(() => {});
  await match.start?.({ options, role: "white" } as unknown as MatchInfo);
  return match;
}

const from = (options: object = {}): ChessState =>
  chess.initialState({ options: chess.options.parse(options), seed: "" }) as ChessState;
const play = (state: ChessState, ...moves: readonly string[]): ChessState =>
  moves.reduce((before, move) => applyLegal(chess, before, before.turn, move) as ChessState, state);

interface TurnParts {
  readonly signal?: AbortSignal;
  readonly clocks?: MatchClocks;
  readonly leftMs?: number;
}

function turn(
  view: ChessState,
  { signal = new AbortController().signal, clocks, leftMs = 60_000.5 }: TurnParts = {},
): Turn {
  const clock = { deadline: new Date(0), remainingMs: () => leftMs, match: clocks ?? null };
  return { game: "chess.v1", role: view.turn, view, signal, clock } as unknown as Turn;
}

/** What the processes of the engine have read, without the handshake and process ids. */
const received = (pattern: RegExp): readonly string[] =>
  readFileSync(log(), "utf8")
    .split("\n")
    .map((line) => line.replace(/^\d+ /, ""))
    .filter((line) => pattern.test(line));
const processes = (): number => new Set(readFileSync(log(), "utf8").match(/^\d+/gm)).size;

test("the hash of an engine depends on its command and settings, and not on its folder", () => {
  const hash = hashOf(settingsIn("uci:fish#nodes=5,option.Hash=16"));
  const other = { command: ["fish"], nodes: 5, options: { Hash: 16 }, folder };
  expect(hashOf(other)).toBe(hash);
  expect(hashOf({ ...other, nodes: 6 })).not.toBe(hash);
  expect(hashOf({ ...other, options: { Hash: 17 } })).not.toBe(hash);
});

describe("a search", () => {
  test("has the limit of the settings", async () => {
    const match = await begin(await load(engine([], { depth: 5, nodes: 9 })));
    await match.choose(turn(from()));
    expect(received(/^go/)).toEqual(["go nodes 9 depth 5"]);
  });

  test("has the clocks of the match", async () => {
    const match = await begin(await load(engine()));
    const clocks = { initialMs: 60_000, incrementMs: 500, remainingMs: { white: 40_000, black: 30_000 } };
    await match.choose(turn(from(), { clocks }));
    expect(received(/^go/)).toEqual(["go wtime 39750 btime 30000 winc 500 binc 500"]);
  });

  test("is stopped before its turn is over", async () => {
    const match = await begin(await load(engine(["first=wait"])));
    expect(await match.choose(turn(from(), { leftMs: 100 }))).toBe("a2a3");
    expect(received(/^(go|stop)/)).toEqual(["go nodes 10000", "stop"]);
  });

  test("is stopped if the engine ignores the limit of positions", async () => {
    const match = await begin(await load(engine(["first=wait", "nodes=25000"], { nodes: 12_000 })));
    expect(await match.choose(turn(from()))).toBe("a2a3");
    expect(received(/^(go|stop)/)).toEqual(["go nodes 12000", "stop"]);
  });

  test("has the moves of the match, also those of the opening", async () => {
    const options = { moves: "e2e4 e7e5" };
    const match = await begin(await load(engine(["moves=a2a3,a3a4,a4a5"])), options);
    let state = from(options);
    for (const reply of ["a7a6", "b7b6", "c7c6"]) {
      state = play(state, (await match.choose(turn(state))) as string, reply);
    }
    expect(received(/^position/)).toEqual([
      "position startpos moves e2e4 e7e5",
      "position startpos moves e2e4 e7e5 a2a3 a7a6",
      "position startpos moves e2e4 e7e5 a2a3 a7a6 a3a4 b7b6",
    ]);
  });
});

describe("options of the engine", () => {
  test("are set before the first search", async () => {
    await load(engine([], { options: { hash: 32, Style: "Solid" } }));
    const commands = ["setoption name Hash value 32", "setoption name Style value Solid", "isready"];
    expect(received(/^(setoption|isready)/)).toEqual(commands);
  });

  test("that it does not have are rejected when the player starts", async () => {
    await expect(load(engine([], { options: { Hahs: 1 } }))).rejects.toThrow(/^engine ".*" has no option "Hahs". Did/);
  });
});

describe("matches that are played at the same time", () => {
  const START = from();

  test("each has a process for itself, which the next match uses again after ucinewgame", async () => {
    const bot = await load(engine());
    const [one, other] = [await begin(bot), await begin(bot)];
    await Promise.all([one.choose(turn(START)), other.choose(turn(START))]);
    expect(processes()).toBe(2);
    one.close?.();
    const third = await begin(bot);
    await third.choose(turn(START));
    expect(processes()).toBe(2);
    expect(received(/^(ucinewgame|go)/).length).toBe(3 + 3);
  });

  test("more than eight share the processes, with ucinewgame before a search of another match", async () => {
    const bot = await load(engine());
    const matches = await Promise.all(Array.from({ length: 9 }, () => begin(bot)));
    for (const match of [...matches, ...matches]) expect(await match.choose(turn(START))).toBe("a2a3");
    expect(processes()).toBe(8);
    // Two matches share a process and alternate; seven have a process for themselves.
    expect(received(/^ucinewgame/).length).toBe(7 + 2 + 2);
  });

  test("a search does not wait for the search of another match", async () => {
    const bot = await load(engine(["first=wait"]));
    const [one, other] = [await begin(bot), await begin(bot)];
    const over = new AbortController();
    const first = one.choose(turn(START, { signal: over.signal }));
    await vi.waitFor(() => expect(received(/^go/)).toHaveLength(1), WAIT_OPTIONS);
    expect(await other.choose(turn(START))).toBe("a2a3");
    over.abort();
    expect(await first).toBe("a2a3");
  });
});

describe("the score of a position", () => {
  test("is added to the move in a match with adjudication", async () => {
    const bot = await load(engine(["score=cp -612"]));
    const match = await begin(bot, { resign_score: 600 });
    expect(await match.choose(turn(from()))).toBe("a2a3 cp -612");
  });

  test("is not added in a match without adjudication, or if the engine reports none", async () => {
    const bot = await load(engine(["score=mate 3"]));
    expect(await (await begin(bot, { draw_score: 10 })).choose(turn(from()))).toBe("a2a3 mate 3");
    expect(await (await begin(bot)).choose(turn(from()))).toBe("a2a3");
    expect(await (await begin(await load(engine()), { draw_score: 10 })).choose(turn(from()))).toBe("a2a3");
  });
});

describe("an engine that fails", () => {
  const START = from();

  test("a command that does not exist is named", async () => {
    const message = /^there is no engine "no-such-engine-at-all": install it, or give its path$/;
    await expect(load("uci:no-such-engine-at-all")).rejects.toThrow(message);
    await expect(load('uci:{"command":["no-such-engine-at-all"]}')).rejects.toThrow(message);
    const nowhere = join(folder, "nowhere");
    await expect(load(engine([], { folder: nowhere }))).rejects.toThrow(`no such folder: ${nowhere}`);
  });

  test.each(["uci", "isready"])("an engine that does not answer %s is terminated", async (command) => {
    const clock = manualClock();
    const loading = expect(load(engine([`silent=${command}`]), clock)).rejects.toThrow(
      /did not answer \w+ in 10000 ms/,
    );
    await vi.waitFor(() => expect(received(new RegExp(`^${command}$`))).toHaveLength(1), WAIT_OPTIONS);
    await clock.advance(10_000);
    await loading;
  });

  test("an engine that exits fails its search with its last line, and is started again for the next one", async () => {
    const match = await begin(await load(engine(["first=exit"])));
    await expect(match.choose(turn(START))).rejects.toThrow(/ended with code 3: Segmentation fault, as a test$/);
    expect(await match.choose(turn(START))).toBe("a2a3");
    expect(processes()).toBe(2);
  });

  test("an engine that does not obey `stop` is terminated, and the next search starts another process", async () => {
    const match = await begin(await load(engine(["first=hang"])));
    const over = new AbortController();
    const search = expect(match.choose(turn(START, { signal: over.signal }))).rejects.toThrow(
      "did not stop in 1000 ms",
    );
    await vi.waitFor(() => expect(received(/^go/)).toHaveLength(1), WAIT_OPTIONS);
    over.abort();
    await search;
    expect(await match.choose(turn(START))).toBe("a2a3");
    expect(processes()).toBe(2);
  });

  test("a search whose turn has ended is not begun", async () => {
    const match = await begin(await load(engine()));
    const search = match.choose(turn(START, { signal: AbortSignal.abort() }));
    await expect(search).rejects.toThrow("the turn ended before its search began");
    expect(received(/^go/)).toEqual([]);
  });

  test('"bestmove (none)" is an error that names the position', async () => {
    const match = await begin(await load(engine(["moves=(none)"])));
    await expect(match.choose(turn(START))).rejects.toThrow(`in the position ${START.fen}`);
  });

  test("an engine that a shell has started is the process that is terminated", async () => {
    const command = `"${process.execPath}" "${PROGRAM}" "${log()}" first=hang`;
    const match = await begin(await load(`uci:${command}`));
    const over = new AbortController();
    const search = expect(match.choose(turn(START, { signal: over.signal }))).rejects.toThrow("did not stop");
    await vi.waitFor(() => expect(received(/^go/)).toHaveLength(1), WAIT_OPTIONS);
    over.abort();
    await search;
    const [pid = 0] = (readFileSync(log(), "utf8").match(/^\d+/) ?? []).map(Number);
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow("ESRCH"), WAIT_OPTIONS);
  });

  test("an illegal move is passed on, because the referee judges it", async () => {
    const match = await begin(await load(engine(["moves=e2e5"])));
    expect(await match.choose(turn(START))).toBe("e2e5");
  });

  test("the processes end with the player", async () => {
    const bot = await load(engine());
    const match = await begin(bot);
    await bot.close?.();
    await expect(match.choose(turn(START))).rejects.toThrow("the player has ended");
    expect(existsSync(log())).toBe(true);
  });
});
