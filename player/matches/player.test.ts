import { setFlagsFromString } from "node:v8";
import { runInThisContext } from "node:vm";
import { describe, expect, test, vi } from "vitest";
import type { ChessView } from "#shared/games/chess.ts";
import { systemClock } from "#shared/lib/clock.ts";
import { manualClock } from "#shared/lib/testing/clock.ts";
import type { GameInvite } from "#shared/protocol/messages.ts";
import type { LoadedBot } from "../loaded-bot.ts";
import type { Turn } from "../sdk.ts";
import { Player } from "./player.ts";

const invite: GameInvite = {
  league_id: "l",
  round_id: 1,
  match_id: "M1",
  epoch: 1,
  game: "even_odd.v1",
  options: {},
  your_role: "ODD",
  roles: { ODD: "P01", EVEN: "P02" },
  seed_commitment: "0".repeat(64),
  bot_seed: "seed",
};

const TOKEN = "its match token";

/** Plays three turns with a bot. Resolves with the history that it saw in each turn and the state of the player. */
async function playThreeTurns(bot: Pick<LoadedBot, "readsHistory">) {
  const histories: Turn["history"][] = [];
  const choose = (turn: Turn): number => {
    histories.push([...turn.history]);
    return turn.tick + 1;
  };
  const player = new Player({ ...bot, name: "bot", create: () => ({ choose }) }, () => {}, systemClock);
  await player.invite(invite, TOKEN);
  for (const tick of [0, 2, 4]) {
    const { league_id, match_id, epoch, your_role } = invite;
    const game_state = { at: tick };
    const request = { league_id, match_id, epoch, your_role, tick, game_round: 1, game_state, time_limit_seconds: 5 };
    // A repeated request is answered again and does not count as another turn.
    for (let repetition = 0; repetition < 2; repetition++)
      await player.move({ ...request, deadline: "2026-01-01T00:00:00Z" }, TOKEN);
  }
  return { histories, state: player.state(true) };
}

/** Plays a match of three turns. Resolves with the turns that the bot received. */
async function playedTurns(): Promise<Turn[]> {
  const turns: Turn[] = [];
  const choose = (turn: Turn): number => turns.push(turn);
  const player = new Player({ readsHistory: false, name: "bot", create: () => ({ choose }) }, () => {}, systemClock);
  await player.invite(invite, TOKEN);
  for (const tick of [0, 2, 4]) {
    const { league_id, match_id, epoch, your_role } = invite;
    const game_state = { phase: "COLLECTING_CHOICES", variant: "sum", choices: { ODD: null, EVEN: null } };
    const request = { league_id, match_id, epoch, your_role, tick, game_round: 1, game_state, time_limit_seconds: 5 };
    await player.move({ ...request, deadline: "2026-01-01T00:00:00Z" }, TOKEN);
  }
  return turns;
}

describe("a turn", () => {
  test("can be copied with all its properties", async () => {
    const [turn] = (await playedTurns()) as [Turn];
    const copy = { ...turn, role: "EVEN" };
    expect(copy).toMatchObject({ game: "even_odd.v1", role: "EVEN", tick: 0, legal: [1, 2, 3, 4, 5], history: [] });
    expect(copy.random).toBe(turn.random);
    expect(copy.signal.aborted).toBe(false);
    expect(copy.clock.remainingMs()).toBeGreaterThan(0);
  });

  test("measures the remaining time by the monotonic clock, so a change of the machine's clock has no effect", async () => {
    vi.useFakeTimers({ toFake: ["Date", "performance"] });
    try {
      const [turn] = (await playedTurns()) as [Turn];
      vi.advanceTimersByTime(2_000);
      vi.setSystemTime(Date.now() - 60_000);
      expect(turn.clock.remainingMs()).toBe(3_000);
    } finally {
      vi.useRealTimers();
    }
  });

  test("draws other random numbers than the next turn and the same ones in a repeated match", async () => {
    const drawn = (turns: readonly Turn[]) => turns.map(({ random }) => random.next());
    const once = drawn(await playedTurns());
    expect(new Set(once).size).toBe(3);
    expect(drawn(await playedTurns())).toEqual(once);
  });

  test("shares its getters with all turns: V8 would keep its request in memory until the next full collection", async () => {
    setFlagsFromString("--allow-natives-syntax");
    const hasFastProperties: (value: object) => boolean = runInThisContext("(value) => %HasFastProperties(value)");
    const isFast = {
      withGetter: hasFastProperties({
        get a() {
          return 1;
        },
      }),
      turns: (await playedTurns()).map(hasFastProperties),
    };
    setFlagsFromString("--no-allow-natives-syntax");
    expect(isFast).toEqual({ withGetter: false, turns: [true, true, true] });
  });
});

const turns = [0, 2, 4].map((tick) => ({ tick, view: { at: tick }, action: tick + 1 }));

describe("the history of a turn", () => {
  test("contains the earlier turns, oldest first, each once", async () => {
    const { histories } = await playThreeTurns({ readsHistory: true });
    expect(histories).toEqual([[], turns.slice(0, 1), turns.slice(0, 2)]);
  });

  test("has the views of chess without the moves, which grow with the match", async () => {
    let history: Turn["history"] = [];
    const choose = (turn: Turn): string => {
      history = turn.history;
      return (turn.view as ChessView).moves?.join() ?? "";
    };
    const player = new Player({ readsHistory: true, name: "bot", create: () => ({ choose }) }, () => {}, systemClock);
    const roles = { white: "P01", black: "P02" };
    const answer = await player.invite({ ...invite, game: "chess.v1", your_role: "white", roles }, TOKEN);
    expect(answer).toMatchObject({ accept: true });
    const { league_id, match_id, epoch } = invite;
    const request = { league_id, match_id, epoch, your_role: "white", game_round: 1, time_limit_seconds: 5 };
    const ask = (tick: number, moves: readonly string[]) =>
      player.move({ ...request, tick, game_state: { fen: "", moves }, deadline: "2026-01-01T00:00:00Z" }, TOKEN);
    expect(await ask(0, [])).toEqual({ move: "" });
    expect(await ask(2, ["e2e4", "e7e5"])).toEqual({ move: "e2e4,e7e5" });
    expect(history).toEqual([
      { tick: 0, view: { fen: "" }, action: "" },
      { tick: 2, view: { fen: "" }, action: "e2e4,e7e5" },
    ]);
  });

  test("is empty for a bot that does not read it, and the state of the player has its actions", async () => {
    const { histories, state } = await playThreeTurns({ readsHistory: false });
    expect(histories).toEqual([[], [], []]);
    expect(state).toMatchObject({ playing: [{ match_id: "M1", actions: [1, 3, 5] }] });
  });
});

describe("a request without the history that the player has", () => {
  const { league_id, match_id, epoch, your_role } = invite;
  const request = { league_id, match_id, epoch, your_role, time_limit_seconds: 5, deadline: "2026-01-01T00:00:00Z" };
  const list: [string, ...string[]] = ["series", "rounds"];
  const view = (rounds: readonly number[]) => ({ score: rounds.length, series: { best_of: 9, rounds } });

  /** Sends requests to a player with a match. Resolves with its answers and the views that its bot saw. */
  async function answersTo(requests: readonly { tick: number; game_state: unknown; from?: number }[]) {
    const views: unknown[] = [];
    const choose = (turn: Turn): number => views.push(turn.view);
    const player = new Player({ readsHistory: false, name: "bot", create: () => ({ choose }) }, () => {}, systemClock);
    await player.invite(invite, TOKEN);
    const answers: unknown[] = [];
    for (const { from, ...asked } of requests) {
      const omitted_history = from === undefined ? undefined : { list, from };
      answers.push(await player.move({ ...request, ...asked, omitted_history }, TOKEN));
    }
    return { answers, views };
  }

  test("is completed, so that the bot sees the whole view", async () => {
    const { answers, views } = await answersTo([
      { tick: 2, game_state: view([1, 2]) },
      { tick: 4, game_state: view([3]), from: 2 },
      { tick: 6, game_state: view([3, 4]), from: 2 },
      { tick: 8, game_state: view([]), from: 4 },
    ]);
    expect(answers).toEqual([1, 2, 3, 4].map((move) => ({ move })));
    const [all, series] = [[1, 2, 3, 4], (rounds: readonly number[]) => ({ best_of: 9, rounds })];
    expect(views).toEqual([
      view([1, 2]),
      { score: 1, series: series([1, 2, 3]) },
      { score: 2, series: series(all) },
      { score: 0, series: series(all) },
    ]);
  });

  test("is completed with the view of the last turn, although an earlier request arrives late", async () => {
    const { views } = await answersTo([
      { tick: 2, game_state: view([1, 2]) },
      { tick: 4, game_state: view([3]), from: 2 },
      { tick: 2, game_state: view([1, 2]) },
      { tick: 6, game_state: view([4]), from: 3 },
    ]);
    expect(views.at(-1)).toEqual({ score: 1, series: { best_of: 9, rounds: [1, 2, 3, 4] } });
  });

  test("is completed with what the player has received, although the bot has changed its view", async () => {
    const views: unknown[] = [];
    const choose = ({ view }: Turn): number => {
      const { previous_rounds: rounds } = view as unknown as { previous_rounds: number[] };
      views.push([...rounds]);
      rounds.reverse();
      return 1;
    };
    const player = new Player({ readsHistory: false, name: "bot", create: () => ({ choose }) }, () => {}, systemClock);
    await player.invite(invite, TOKEN);
    const omitted_history = { list: ["previous_rounds"] as [string], from: 2 };
    await player.move({ ...request, tick: 2, game_state: { previous_rounds: [1, 2] } }, TOKEN);
    await player.move({ ...request, tick: 4, game_state: { previous_rounds: [3] }, omitted_history }, TOKEN);
    await player.move({ ...request, tick: 6, game_state: { previous_rounds: [3, 4] }, omitted_history }, TOKEN);
    expect(views).toEqual([
      [1, 2],
      [1, 2, 3],
      [1, 2, 3, 4],
    ]);
  });

  test.each([
    ["the player has no view", [{ tick: 4, game_state: view([3]), from: 2 }]],
    [
      "its view has fewer elements",
      [
        { tick: 2, game_state: view([1]) },
        { tick: 4, game_state: view([3]), from: 2 },
      ],
    ],
    [
      "its view has no such list",
      [
        { tick: 2, game_state: {} },
        { tick: 4, game_state: view([3]), from: 2 },
      ],
    ],
    [
      "the request has no such list",
      [
        { tick: 2, game_state: view([1, 2]) },
        { tick: 4, game_state: null, from: 2 },
      ],
    ],
  ])(
    "is answered like one for an unknown match if %s, so that the referee invites the player again",
    async (_, requests) => {
      expect((await answersTo(requests)).answers.at(-1)).toBe("unknown_match");
    },
  );
});

describe("a turn whose answer was rejected", () => {
  const { league_id, match_id, epoch, your_role } = invite;
  const ask = { league_id, match_id, epoch, your_role, tick: 2, game_round: 1, game_state: {}, time_limit_seconds: 5 };
  const request = { ...ask, deadline: "2026-01-01T00:00:00Z" };
  const error = { error_code: "G001", error_name: "INVALID_MOVE", message: "no", retryable: true, context: {} };

  /** Plays tick 0, tick 2 in three tries, and tick 4. Resolves with the number drawn and the history of each try. */
  async function playTries() {
    const drawn: number[] = [];
    const histories: Turn["history"][] = [];
    const choose = (turn: Turn): number => {
      histories.push([...turn.history]);
      return drawn[drawn.push(turn.random.next()) - 1] ?? 0;
    };
    const player = new Player({ readsHistory: true, name: "bot", create: () => ({ choose }) }, () => {}, systemClock);
    await player.invite(invite, TOKEN);
    await player.move({ ...request, tick: 0 }, TOKEN);
    await player.move(request, TOKEN);
    await player.move({ ...request, error }, TOKEN);
    await player.move({ ...request, error }, TOKEN);
    await player.move({ ...request, tick: 4 }, TOKEN);
    return { drawn, histories, state: player.state(true) };
  }

  test("draws other random numbers in each try and the same ones in a repeated match", async () => {
    const { drawn } = await playTries();
    expect(new Set(drawn).size).toBe(5);
    expect((await playTries()).drawn).toEqual(drawn);
  });

  test("has only earlier turns in its history, and is in the history once, with its last answer", async () => {
    const { drawn, histories, state } = await playTries();
    const [first, , , last, after] = drawn;
    const earlier = [expect.objectContaining({ tick: 0, action: first })];
    expect(histories).toEqual([
      [],
      earlier,
      earlier,
      earlier,
      [...earlier, expect.objectContaining({ tick: 2, action: last })],
    ]);
    expect(state).toMatchObject({ playing: [{ actions: [first, last, after] }] });
  });
});

test("a bot that does not answer in time is reported one second after its time limit", async () => {
  const clock = manualClock();
  const choose = ({ signal }: Turn): Promise<never> =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("too late"))));
  const player = new Player({ readsHistory: false, name: "bot", create: () => ({ choose }) }, () => {}, clock);
  await player.invite(invite, TOKEN);
  const { league_id, match_id, epoch, your_role } = invite;
  const request = { league_id, match_id, epoch, your_role, tick: 0, game_round: 1, game_state: {}, legal_actions: [1] };
  const answered = vi.fn();
  const answer = player.move({ ...request, time_limit_seconds: 5, deadline: "2026-01-01T00:00:05Z" }, TOKEN);
  void answer.then(answered);
  await clock.advance(5_900);
  expect(answered).not.toHaveBeenCalled();
  await clock.advance(100);
  expect(await answer).toEqual({ failed: "too late" });
});
