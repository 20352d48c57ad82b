import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type ChessState, chess } from "#shared/games/chess.ts";
import { applyLegal } from "#shared/games/contract/obligation.ts";
import { systemClock } from "#shared/lib/clock.ts";
import { manualClock } from "#shared/lib/testing/clock.ts";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import type { LoadedBot, MatchBot } from "../loaded-bot.ts";
import type { GameResult, MatchClocks, MatchInfo, Turn } from "../sdk.ts";
import { hashOf, settingsIn, uciBot } from "./uci-bot.ts";
import type { ProcessLimits } from "./uci-process.ts";

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

async function load(spec: string, clock = systemClock, limits?: ProcessLimits): Promise<LoadedBot> {
  const bot = await uciBot(spec, clock, limits);
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
  readonly clocks?: MatchClocks;
  readonly leftMs?: number;
}

function turn(view: ChessState, { clocks, leftMs = 60_000.5 }: TurnParts = {}): Turn {
  const clock = { deadline: new Date(0), remainingMs: () => leftMs, match: clocks ?? null };
  return { game: "chess.v1", role: view.turn, view, clock } as unknown as Turn;
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

  test("is not answered by a later answer to the search before", async () => {
    const match = await begin(await load(engine(["habit=twice", "moves=a2a3,b2b3,c2c3"])));
    const answers = [from(), from(), from()].map((state) => turn(state));
    for (const [index, move] of ["a2a3", "b2b3", "c2c3"].entries())
      expect(await match.choose(answers[index] as Turn)).toBe(move);
    const search = ["isready", "go nodes 10000"];
    expect(received(/^(isready|go)/)).toEqual(["isready", "isready", ...search, ...search, ...search]);
  });

  test("is read after a line that is too long to keep", async () => {
    const match = await begin(await load(engine(["habit=wordy"])));
    expect(await match.choose(turn(from()))).toBe("a2a3");
  });

  test("is read from lines with other spaces", async () => {
    const match = await begin(await load(engine(["habit=indented", "score=cp +35"], { options: { Hash: 32 } })), {
      draw_score: 10,
    });
    expect(await match.choose(turn(from()))).toBe("a2a3 cp 35");
  });

  test.each([
    ["e1h1", "e1g1"],
    ["e1a1", "e1c1"],
    ["E1-G1", "e1g1"],
    ["a1b1", "a1b1"],
  ])("castling as %s is %s", async (written, move) => {
    const options = { fen: "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1" };
    const match = await begin(await load(engine([`moves=${written}`])), options);
    expect(await match.choose(turn(from(options)))).toBe(move);
  });

  test("of a rook from e1 to h1 is not castling", async () => {
    const options = { fen: "4k3/8/8/8/8/8/4K3/4R3 w - - 0 1" };
    const match = await begin(await load(engine(["moves=e1h1"])), options);
    expect(await match.choose(turn(from(options)))).toBe("e1h1");
  });

  test("is stopped before its turn is over", async () => {
    const match = await begin(await load(engine(["first=wait"])));
    expect(await match.choose(turn(from(), { leftMs: 100 }))).toBe("a2a3");
    expect(received(/^(go|stop)/)).toEqual(["go nodes 10000", "stop"]);
  });

  test("is stopped when its match is over", async () => {
    const match = await begin(await load(engine(["first=wait"]), manualClock()));
    const search = match.choose(turn(from()));
    await vi.waitFor(() => expect(received(/^go/)).toHaveLength(1), WAIT_OPTIONS);
    match.end?.({} as GameResult);
    expect(await search).toBe("a2a3");
    expect(received(/^stop/)).toHaveLength(1);
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

  test("have processes up to the given number, which the next matches use again", async () => {
    const bot = await load(engine(), systemClock, { processes: 3, spare: 3 });
    for (let round = 0; round < 2; round++) {
      const matches = await Promise.all([begin(bot), begin(bot), begin(bot)]);
      for (const match of matches) expect(await match.choose(turn(START))).toBe("a2a3");
      for (const match of matches) match.close?.();
    }
    expect(processes()).toBe(3);
    expect(received(/^ucinewgame/)).toHaveLength(6);
    expect(received(/^quit/)).toEqual([]);
  });

  test("a search does not wait for the search of another match", async () => {
    const bot = await load(engine(["first=wait"]));
    const [one, other] = [await begin(bot), await begin(bot)];
    const first = one.choose(turn(START));
    await vi.waitFor(() => expect(received(/^go/)).toHaveLength(1), WAIT_OPTIONS);
    expect(await other.choose(turn(START))).toBe("a2a3");
    one.close?.();
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
      /^engine ".*" (speaks no UCI.*|did not answer readyok) in 30000 ms; start_ms sets this time$/,
    );
    await vi.waitFor(() => expect(received(new RegExp(`^${command}$`))).toHaveLength(1), WAIT_OPTIONS);
    await clock.advance(29_999);
    await clock.advance(1);
    await loading;
  });

  test("the time for the start is a setting", async () => {
    const clock = manualClock();
    const loading = expect(load(engine(["silent=uci"], { start_ms: 70_000 }), clock)).rejects.toThrow("in 70000 ms");
    await vi.waitFor(() => expect(received(/^uci$/)).toHaveLength(1), WAIT_OPTIONS);
    await clock.advance(70_000);
    await loading;
  });

  test("an engine that does not answer ucinewgame accepts its match, and its first search names it", async () => {
    const clock = manualClock();
    const bot = await load(engine(["stuck=ucinewgame"]), clock);
    const starting = begin(bot);
    await vi.waitFor(() => expect(received(/^ucinewgame/)).toHaveLength(1), WAIT_OPTIONS);
    await clock.advance(3_000);
    const search = (await starting).choose(turn(START, { leftMs: 600_000 }));
    const failed = expect(search).rejects.toThrow(/^engine ".*" did not answer readyok after ucinewgame in 30000 ms/);
    await clock.advance(27_000);
    // The search starts another process.
    await vi.waitFor(() => expect(received(/^ucinewgame/)).toHaveLength(2), WAIT_OPTIONS);
    await clock.advance(30_000);
    await failed;
  });

  test("an engine has two seconds to save its data after quit, and is then terminated", async () => {
    await load(engine(["habit=saves"]));
    await bots.pop()?.close?.();
    expect(readFileSync(`${log()}.saved`, "utf8")).toBe("data");
    const clock = manualClock();
    await load(engine(["habit=stays"]), clock);
    const closed = bots.pop()?.close?.();
    await vi.waitFor(() => expect(received(/^quit$/)).toHaveLength(2), WAIT_OPTIONS);
    const [pid = 0] = (readFileSync(log(), "utf8").match(/^\d+(?= quit$)/gm) ?? []).slice(-1).map(Number);
    await clock.advance(1_999);
    expect(() => process.kill(pid, 0)).not.toThrow();
    await clock.advance(1);
    await closed;
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow("ESRCH"), WAIT_OPTIONS);
  });

  test("an engine that exits fails its search with its last line, and is started again for the next one", async () => {
    const match = await begin(await load(engine(["first=exit"])));
    await expect(match.choose(turn(START))).rejects.toThrow(/ended with code 3: Segmentation fault, as a test$/);
    expect(await match.choose(turn(START))).toBe("a2a3");
    expect(processes()).toBe(2);
  });

  test("an engine that does not obey `stop` is terminated, and the next search starts another process", async () => {
    const bot = await load(engine(["first=hang"]));
    const match = await begin(bot);
    const search = expect(match.choose(turn(START))).rejects.toThrow("did not stop in 1000 ms");
    await vi.waitFor(() => expect(received(/^go/)).toHaveLength(1), WAIT_OPTIONS);
    match.close?.();
    await search;
    expect(await (await begin(bot)).choose(turn(START))).toBe("a2a3");
    expect(processes()).toBe(2);
  });

  test("a search whose turn has ended is not begun", async () => {
    const match = await begin(await load(engine()));
    const search = match.choose(turn(START, { leftMs: 0 }));
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
    const search = expect(match.choose(turn(START))).rejects.toThrow("did not stop");
    await vi.waitFor(() => expect(received(/^go/)).toHaveLength(1), WAIT_OPTIONS);
    match.close?.();
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
