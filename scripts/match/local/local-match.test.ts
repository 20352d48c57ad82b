import { describe, expect, it } from "vitest";
import { findGame } from "#shared/games/registry.ts";
import { type Clock, systemClock } from "#shared/lib/clock.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { forwardClock, manualClock } from "#shared/lib/testing/clock.ts";
import type { MatchResult, StartGame } from "#shared/protocol/messages.ts";
import { faultsOfMatch } from "#shared/session/match-result.ts";
import type { MatchBot } from "../../../player/loaded-bot.ts";
import { Player } from "../../../player/matches/player.ts";
import type { Turn } from "../../../player/sdk.ts";
import type { LocalPlayer } from "./local-bots.ts";
import { localMatches } from "./run-local.ts";

type Choose = (turn: Turn) => unknown;

const RANDOM: Choose = ({ random, legal }) => random.pick(legal as readonly unknown[]);

const OPTIONS = { best_of: 5 };

const ORDER: StartGame = {
  league_id: "match",
  match_id: "R1M1",
  round_id: 1,
  epoch: 1,
  run_id: "run",
  seed: "seed",
  game: "rps.v1",
  options: OPTIONS,
  roles: { player_1: seat("P01"), player_2: seat("P02") },
  timeouts: { join_ms: 1_000, move_ms: 1_000, game_over_ms: 1_000 },
};

function seat(player_id: string): StartGame["roles"][string] {
  const fields = { legal_actions: false, round_results: false, dialect: "native", match_token: "token" };
  return { player_id, endpoint: player_id, ...fields };
}

interface Options {
  readonly clock?: Clock;
  readonly needsCopies?: boolean;
  readonly games?: readonly string[];
  readonly hooks?: Partial<MatchBot>;
}

/** Plays a game of rps between a bot and a random bot. */
function play(
  choose: Choose,
  { clock = systemClock, needsCopies = false, games, hooks }: Options = {},
): Promise<MatchResult> {
  const localPlayer = (bot: Choose, isFirst: boolean): LocalPlayer => ({
    needsCopies,
    player: new Player(
      {
        name: "bot",
        readsHistory: true,
        ...(isFirst && games && { games }),
        create: () => ({ choose: bot, ...(isFirst && hooks) }),
      },
      () => {},
      clock,
    ),
  });
  const players: Readonly<Record<string, LocalPlayer>> = {
    P01: localPlayer(choose, true),
    P02: localPlayer(RANDOM, false),
  };
  return localMatches((endpoint) => players[endpoint] as LocalPlayer, { clock, ids: systemIds })(ORDER);
}

const faultOf = ({ faults }: MatchResult) =>
  faults.map(({ player_id, code, cause, detail }) => ({ player_id, code, cause, detail }));

describe("a local match", () => {
  it("has a result that its log proves, as the result of a referee", async () => {
    const result = await play(RANDOM);
    const roles = { player_1: "P01", player_2: "P02" };
    expect(result.termination).toBe("normal");
    expect(faultsOfMatch({ ...result, game: "rps.v1", options: OPTIONS, seed: "seed", roles })).toEqual([]);
  });

  it("is lost by a bot whose three answers of a turn are illegal", async () => {
    const reasons: (string | null)[] = [];
    const result = await play(({ rejection }) => {
      reasons.push(rejection);
      return "stone";
    });
    expect(faultOf(result)).toEqual([
      { player_id: "P01", code: "G001", cause: "illegal_move", detail: expect.stringMatching(/^illegal move: /) },
    ]);
    expect(reasons).toEqual([null, expect.stringMatching(/^illegal move: /), expect.stringMatching(/^illegal move: /)]);
  });

  it("is lost by a bot that throws errors or returns nothing in a turn", async () => {
    const thrown = await play(() => {
      throw new Error("no idea");
    });
    expect(faultOf(thrown)).toMatchObject([{ cause: "bot_error", detail: "no idea" }]);
    expect(faultOf(await play(() => undefined))).toMatchObject([
      { cause: "bot_error", detail: expect.stringContaining("the bot returned nothing") },
    ]);
  });

  it("is lost by a bot that computes in this thread for longer than its time limit", async () => {
    const clock = forwardClock();
    const result = await play(
      (turn) => {
        clock.forward(1_001);
        return RANDOM(turn);
      },
      { clock },
    );
    expect(faultOf(result)).toEqual([
      { player_id: "P01", code: "G002", cause: "timeout", detail: "no answer within 1000 ms" },
    ]);
  });

  it("is lost by a bot that never answers, or whose start never ends", async () => {
    for (const [choose, hooks] of [
      [() => new Promise(() => {}), {}],
      [RANDOM, { start: () => new Promise<void>(() => {}) }],
    ] as const) {
      const clock = manualClock();
      const playing = play(choose, { clock, hooks });
      let result: MatchResult | null = null;
      void playing.then((ended) => {
        result = ended;
      });
      while (result === null) await clock.advance(1_000);
      expect(faultOf(await playing)).toMatchObject([{ player_id: "P01", code: "G002", cause: "timeout" }]);
    }
  });

  it("does not charge a bot for the time in which it waits and this thread is busy", async () => {
    const clock = forwardClock();
    let turns = 0;
    const result = await play(
      async (turn) => {
        const answer = RANDOM(turn);
        // The answer has arrived when another game keeps the thread busy.
        if (turns++ === 0) setImmediate(() => clock.forward(900));
        await new Promise(setImmediate);
        await new Promise(setImmediate);
        return answer;
      },
      { clock },
    );
    expect(result.termination).toBe("normal");
  });

  it("is lost by a bot that does not play the game", async () => {
    expect(faultOf(await play(RANDOM, { games: ["chess.v1"] }))).toMatchObject([
      { player_id: "P01", cause: "declined", detail: "declined: bot does not play rps.v1" },
    ]);
  });

  it("gives a bot that is not part of this project copies of its views", async () => {
    const result = await play(
      (turn) => {
        const { series } = turn.view as { series: { scores: Record<string, number> } };
        series.scores.player_1 = 99;
        return RANDOM(turn);
      },
      { needsCopies: true },
    );
    const roles = { player_1: "P01", player_2: "P02" };
    expect(faultsOfMatch({ ...result, game: "rps.v1", options: OPTIONS, seed: "seed", roles })).toEqual([]);
  });

  it("gives a bot its result with the seed, and reads its answer as JSON", async () => {
    const ended: unknown[] = [];
    const choose: Choose = (turn) => ({ toJSON: () => RANDOM(turn) });
    const result = await play(choose, { hooks: { end: (given) => void ended.push(given) } });
    expect(result.termination).toBe("normal");
    expect(ended).toMatchObject([{ match_id: "R1M1", seed: "seed", termination: "normal", log_head: result.log_head }]);
  });

  it("rejects if the rules of the game throw an error, which is the fault of no player", async () => {
    const rps = findGame("rps.v1");
    if (!rps) throw new Error("rps.v1 is built in");
    const { applyAction } = rps;
    Object.assign(rps, {
      applyAction() {
        throw new RangeError("a bug of the game");
      },
    });
    try {
      await expect(play(RANDOM)).rejects.toThrow("a bug of the game");
    } finally {
      Object.assign(rps, { applyAction });
    }
  });
});
