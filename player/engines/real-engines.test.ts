/** Plays matches with engines that are installed from Debian. */
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { type ChessState, type ChessView, chess } from "#shared/games/chess.ts";
import { systemClock } from "#shared/lib/clock.ts";
import { requireProgram } from "#shared/runtime/testing/packages.ts";
import { replayTexts } from "#shared/session/replay.ts";
import { create, decide, type Session } from "#shared/session/session.ts";
import type { LoadedBot } from "../loaded-bot.ts";
import type { MatchClocks, MatchInfo, Turn } from "../sdk.ts";
import { uciBot } from "./uci-bot.ts";

const AT = "2026-01-01T00:00:00.000Z";
const SEED = "a seed";

let stockfish = "";
let gnuchess = "";
beforeAll(() => {
  stockfish = requireProgram(["/usr/games/stockfish", "/usr/bin/stockfish"], "stockfish");
  gnuchess = requireProgram(["/usr/games/gnuchess", "/usr/bin/gnuchess"], "gnuchess");
});

let bots: LoadedBot[] = [];
afterEach(async () => {
  for (const bot of bots) await bot.close?.();
  bots = [];
});

async function load(command: readonly string[], settings: object): Promise<LoadedBot> {
  const bot = await uciBot(`uci:${JSON.stringify({ command, ...settings })}`, systemClock);
  bots.push(bot);
  return bot;
}

const CLOCKS: MatchClocks = { initialMs: 2_000, incrementMs: 20, remainingMs: { white: 2_000, black: 2_000 } };

function turnOf(session: Session, role: string, clocks: MatchClocks | null): Turn {
  const view = chess.viewState(session.state as ChessState, role) as ChessView;
  const clock = { deadline: new Date(0), remainingMs: () => 60_000, match: clocks };
  return { game: "chess.v1", role, view, signal: new AbortController().signal, clock } as unknown as Turn;
}

/** Plays a match to its end. Returns the session and the texts of its log. */
async function play(white: LoadedBot, black: LoadedBot, options: object, clocks: MatchClocks | null = null) {
  const participants = { white: "W", black: "B" };
  let { entry, next } = create({
    id: "s",
    game: chess,
    options: chess.options.parse(options),
    participants,
    seed: SEED,
    at: AT,
  });
  const log = [JSON.stringify(entry)];
  const players = { white: white.create(() => {}), black: black.create(() => {}) };
  for (const role of ["white", "black"] as const)
    await players[role].start?.({ options, role } as unknown as MatchInfo);
  while (next.status === "active") {
    const role = chess.toAct(next.state as ChessState)[0] as "white" | "black";
    const action = await players[role].choose(turnOf(next, role, clocks));
    const decided = decide(next, { type: "act", role, action, expectedTick: next.tick }, AT);
    if (!decided.ok) throw new Error(`${role} answered ${action}: ${decided.error.message}`);
    ({ entry, next } = decided.value);
    log.push(JSON.stringify(entry));
  }
  for (const player of Object.values(players)) player.close?.();
  return { session: next, log };
}

describe("stockfish and gnuchess", () => {
  it("play a match with options, an opening and limits, and its log replays", async () => {
    const one = await load([stockfish], { nodes: 2_000, options: { Hash: 16, "Skill Level": 3 } });
    const other = await load([gnuchess, "--uci"], { depth: 3, options: { OwnBook: false } });
    const { session, log } = await play(one, other, { moves: "e2e4 e7e5 g1f3", max_plies: 160 });
    expect(session.termination).toBe("normal");
    const replayed = replayTexts(log, SEED);
    expect(replayed.ok && replayed.value.session.state).toEqual(session.state);
  });

  it("play by the clocks of the match", async () => {
    const one = await load([stockfish], {});
    const other = await load([gnuchess, "--uci"], { options: { OwnBook: false } });
    const { session } = await play(one, other, { max_plies: 12 }, CLOCKS);
    expect(session.reason).toBe("move_limit");
  });

  it("the role that is lost resigns by the score of its engine, and the log replays", async () => {
    const fen = "rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    const one = await load([stockfish], { nodes: 500 });
    const other = await load([gnuchess, "--uci"], { depth: 3 });
    for (const [white, black] of [
      [one, other],
      [other, one],
    ] as const) {
      const { session, log } = await play(white, black, { fen, resign_score: 600, resign_moves: 2 });
      expect(session).toMatchObject({ reason: "resignation", outcome: { scores: { white: 1, black: 0 } }, tick: 4 });
      expect(log[4]).toMatch(/"action":"[a-h1-8]{4} (cp|mate) -\d+"/);
      const replayed = replayTexts(log, SEED);
      expect(replayed.ok && replayed.value.session.reason).toBe("resignation");
    }
  });

  it("both agree a draw by their scores", async () => {
    const fen = "4k3/4p3/8/8/8/8/4P3/4K3 w - - 0 50";
    const one = await load([stockfish], { depth: 8 });
    const { session } = await play(one, one, { fen, draw_score: 100, draw_moves: 3 });
    expect(session).toMatchObject({ reason: "draw_adjudicated", tick: 6 });
  });

  it("see repetitions of the moves before", async () => {
    // White is in check and has one legal move, with which the position occurs for the third time.
    const fen = "2Q5/RR6/7k/8/8/7P/5PPK/4q3 b - - 0 1";
    const moves = "e1e4 h2g1 e4e1 g1h2 e1e4 h2g1 e4e1";
    const one = await load([stockfish], { nodes: 3_000 });
    const { session, log } = await play(one, one, { fen, moves, draw_score: 1 });
    expect(session).toMatchObject({ reason: "threefold_repetition", tick: 1 });
    expect(log[1]).toMatch(/"action":"g1h2 cp -?[01]"/);
    const forgotten = await play(one, one, {
      fen: "2Q5/RR6/7k/8/8/7P/5PP1/4q1K1 w - - 0 1",
      draw_score: 1,
      max_plies: 1,
    });
    expect(forgotten.log[1]).toMatch(/"action":"g1h2 (cp|mate) \d{1,5}"/);
    expect(forgotten.log[1]).not.toMatch(/ cp [01]"/);
  });

  it("an engine that ignores the limit of positions is stopped", async () => {
    const one = await load([gnuchess, "--uci"], { nodes: 1_000, options: { OwnBook: false } });
    const { session } = await play(one, one, { max_plies: 2 });
    expect(session.reason).toBe("move_limit");
  });

  it("wrong options are named when the player starts", async () => {
    await expect(load([stockfish], { options: { Hahs: 1 } })).rejects.toThrow(
      'has no option "Hahs". Did you mean "Hash"?',
    );
    await expect(load([gnuchess, "--uci"], { options: { Hash: 0 } })).rejects.toThrow(
      "give a whole number from 4 to 1024",
    );
  });
});
