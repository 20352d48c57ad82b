import { setFlagsFromString } from "node:v8";
import { runInThisContext } from "node:vm";
import { describe, expect, test, vi } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
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

/** Asks a bot three times; tells what history each turn showed, and what the player says of itself. */
async function asked(bot: Pick<LoadedBot, "looksBack">) {
  const seen: Turn["history"][] = [];
  const choose = (turn: Turn): number => {
    seen.push([...turn.history]);
    return turn.tick + 1;
  };
  const player = new Player({ ...bot, name: "bot", file: null, create: () => ({ choose }) }, () => {}, systemClock);
  await player.invite(invite, TOKEN);
  for (const tick of [0, 2, 4]) {
    const { league_id, match_id, epoch, your_role } = invite;
    const game_state = { at: tick };
    const request = { league_id, match_id, epoch, your_role, tick, game_round: 1, game_state, time_limit_seconds: 5 };
    // A repeated request is answered again, and is no turn of its own.
    for (let time = 0; time < 2; time++) await player.move({ ...request, deadline: "2026-01-01T00:00:00Z" }, TOKEN);
  }
  return { seen, state: player.state(true) };
}

/** The turns that a match showed its bot. */
async function shown(): Promise<Turn[]> {
  const turns: Turn[] = [];
  const choose = (turn: Turn): number => turns.push(turn);
  const player = new Player(
    { looksBack: false, name: "bot", file: null, create: () => ({ choose }) },
    () => {},
    systemClock,
  );
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
  test("can be copied whole by a bot that hands it on", async () => {
    const [turn] = (await shown()) as [Turn];
    const copy = { ...turn, role: "EVEN" };
    expect(copy).toMatchObject({ game: "even_odd.v1", role: "EVEN", tick: 0, legal: [1, 2, 3, 4, 5], history: [] });
    expect(copy.random).toBe(turn.random);
    expect(copy.signal.aborted).toBe(false);
    expect(copy.clock.remainingMs()).toBeGreaterThan(0);
  });

  test("tells how much time is left by the monotonic clock, also when the machine's clock was set back", async () => {
    vi.useFakeTimers({ toFake: ["Date", "performance"] });
    try {
      const [turn] = (await shown()) as [Turn];
      vi.advanceTimersByTime(2_000);
      vi.setSystemTime(Date.now() - 60_000);
      expect(turn.clock.remainingMs()).toBe(3_000);
    } finally {
      vi.useRealTimers();
    }
  });

  test("draws other numbers than the next, and the same ones again", async () => {
    const drawn = (turns: readonly Turn[]) => turns.map(({ random }) => random.next());
    const once = drawn(await shown());
    expect(new Set(once).size).toBe(3);
    expect(drawn(await shown())).toEqual(once);
  });

  test("has no getters made for it alone, which would keep its request in memory until the next full collection", async () => {
    setFlagsFromString("--allow-natives-syntax");
    const hasFastProperties: (value: object) => boolean = runInThisContext("(value) => %HasFastProperties(value)");
    const isFast = {
      withGetter: hasFastProperties({
        get a() {
          return 1;
        },
      }),
      turns: (await shown()).map(hasFastProperties),
    };
    setFlagsFromString("--no-allow-natives-syntax");
    expect(isFast).toEqual({ withGetter: false, turns: [true, true, true] });
  });
});

const turns = [0, 2, 4].map((tick) => ({ tick, view: { at: tick }, action: tick + 1 }));

describe("a bot's earlier turns", () => {
  test("are shown to one that may look back, oldest first, each once", async () => {
    const { seen } = await asked({ looksBack: true });
    expect(seen).toEqual([[], turns.slice(0, 1), turns.slice(0, 2)]);
  });

  test("are not kept for one that does not; its actions are told all the same", async () => {
    const { seen, state } = await asked({ looksBack: false });
    expect(seen).toEqual([[], [], []]);
    expect(state).toMatchObject({ playing: [{ match_id: "M1", actions: [1, 3, 5] }] });
  });
});

describe("a turn that is asked again, since its answer was refused", () => {
  const { league_id, match_id, epoch, your_role } = invite;
  const ask = { league_id, match_id, epoch, your_role, tick: 2, game_round: 1, game_state: {}, time_limit_seconds: 5 };
  const request = { ...ask, deadline: "2026-01-01T00:00:00Z" };
  const error = { error_code: "G001", error_name: "INVALID_MOVE", message: "no", retryable: true, context: {} };

  /** Plays tick 0, then tick 2 in three tries: what each turn drew and was shown. */
  async function tried() {
    const drawn: number[] = [];
    const histories: Turn["history"][] = [];
    const choose = (turn: Turn): number => {
      histories.push([...turn.history]);
      return drawn[drawn.push(turn.random.next()) - 1] ?? 0;
    };
    const player = new Player(
      { looksBack: true, name: "bot", file: null, create: () => ({ choose }) },
      () => {},
      systemClock,
    );
    await player.invite(invite, TOKEN);
    await player.move({ ...request, tick: 0 }, TOKEN);
    await player.move(request, TOKEN);
    await player.move({ ...request, error }, TOKEN);
    await player.move({ ...request, error }, TOKEN);
    await player.move({ ...request, tick: 4 }, TOKEN);
    return { drawn, histories, state: player.state(true) };
  }

  test("draws other numbers in each try, and the same ones in the next run", async () => {
    const { drawn } = await tried();
    expect(new Set(drawn).size).toBe(5);
    expect((await tried()).drawn).toEqual(drawn);
  });

  test("shows earlier turns alone, and is told once, with its last answer", async () => {
    const { drawn, histories, state } = await tried();
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
