import { describe, expect, test } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import type { GameInvite, GameResult, MoveRequest } from "#shared/protocol/messages.ts";
import type { BotObject, Turn } from "../sdk.ts";
import { Player } from "./player.ts";

const TOKEN = "its match token";
const invite: GameInvite = {
  league_id: "l",
  round_id: 1,
  match_id: "M1",
  epoch: 1,
  game: "rps.v1",
  options: {},
  your_role: "player_1",
  roles: { player_1: "P01", player_2: "P02" },
  seed_commitment: sha256Hex("seed"),
  bot_seed: "seed",
};
const request: MoveRequest = {
  ...{ league_id: "l", match_id: "M1", epoch: 1, tick: 0, game_round: 1, your_role: "player_1" },
  ...{ game_state: {}, time_limit_seconds: 60, deadline: "2026-01-01T00:00:00Z" },
};
const result: GameResult = {
  ...{ league_id: "l", match_id: "M1", epoch: 1, winner: null, final_scores: {}, match_points: {} },
  ...{ termination: "normal", reason: "drawn", seed: "seed", log_head: "" },
};

function playerOf(bot: BotObject) {
  const said: string[] = [];
  const loaded = { name: "bot", file: null, looksBack: false, create: () => bot };
  const player = new Player(loaded, (line) => void said.push(line), systemClock);
  return { player, said };
}

/** A player whose bot thinks until it is told that its time is over. */
async function thinking() {
  const turns: Turn[] = [];
  const choose = (turn: Turn): Promise<never> => {
    turns.push(turn);
    return new Promise((_, reject) =>
      turn.signal.addEventListener("abort", () => reject(new Error("told that it is over"))),
    );
  };
  const { player } = playerOf({ choose });
  await player.invite(invite, TOKEN);
  const answer = player.move(request, TOKEN);
  expect(turns.map(({ signal }) => signal.aborted)).toEqual([false]);
  return { player, answer };
}

describe("a turn that is still open is over", () => {
  const over = { failed: "told that it is over" };

  test("when its match has ended", async () => {
    const { player, answer } = await thinking();
    expect(await player.finish(result, TOKEN)).toMatchObject({ matchId: "M1" });
    expect(await answer).toEqual(over);
  });

  test("when its match begins anew under a newer epoch", async () => {
    const { player, answer } = await thinking();
    expect(await player.invite({ ...invite, epoch: 2 }, TOKEN)).toEqual({ accept: true });
    expect(await answer).toEqual(over);
  });

  test("when the player stops", async () => {
    const { player, answer } = await thinking();
    player.close();
    expect(await answer).toEqual(over);
  });

  test("when its time has passed", async () => {
    const choose = (turn: Turn) =>
      new Promise((resolve) => turn.signal.addEventListener("abort", () => resolve("rock")));
    const { player } = playerOf({ choose });
    await player.invite(invite, TOKEN);
    expect(await player.move({ ...request, time_limit_seconds: 0.01 }, TOKEN)).toEqual({ move: "rock" });
  });
});

describe("a turn that is asked again", () => {
  /** A bot with an answer for each time that it is asked. */
  async function answering(...answers: (string | Error)[]) {
    const choose = (): string => {
      const answer = answers.shift();
      if (typeof answer !== "string") throw answer;
      return answer;
    };
    const { player } = playerOf({ choose });
    await player.invite(invite, TOKEN);
    return player;
  }

  test("is thought over when it comes with what was wrong, and what was said last is said again", async () => {
    const player = await answering("lizard", "rock");
    const moves = [
      await player.move(request, TOKEN),
      await player.move(request, TOKEN),
      await player.move({ ...request, error: { error_code: "G001" } }, TOKEN),
      await player.move(request, TOKEN),
    ];
    expect(moves).toEqual(["lizard", "lizard", "rock", "rock"].map((move) => ({ move })));
  });

  test("is shown to the player's owner alone, while the bot thinks", async () => {
    const thought = Promise.withResolvers<string>();
    const { player } = playerOf({ choose: () => thought.promise });
    await player.invite(invite, TOKEN);
    const moved = player.move(request, TOKEN);
    const { tick, game_state, deadline } = request;
    expect(player.state(true)).toMatchObject({ playing: [{ asked: { tick, game_state, deadline } }] });
    expect(JSON.stringify(player.state(false))).not.toContain("asked");
    thought.resolve("rock");
    await moved;
    expect(JSON.stringify(player.state(true))).not.toContain("asked");
  });

  test("is a failure that says so when the bot returned nothing", async () => {
    const { player } = playerOf({ choose: () => undefined });
    await player.invite(invite, TOKEN);
    expect(await player.move(request, TOKEN)).toEqual({ failed: "the bot returned nothing; it must return an action" });
  });

  test("is thought over when the bot threw the first time", async () => {
    const player = await answering(new Error("not yet"), "rock");
    expect([await player.move(request, TOKEN), await player.move(request, TOKEN)]).toEqual([
      { failed: "not yet" },
      { move: "rock" },
    ]);
  });
});

describe("a match of another run under the same name", () => {
  const another = { ...invite, seed_commitment: sha256Hex("another"), your_role: "player_2", bot_seed: "another" };

  test("is begun anew: it gets neither the role nor an answer of an unfinished one", async () => {
    const asked: string[] = [];
    const { player } = playerOf({ choose: ({ role }) => asked[asked.push(role) - 1] });
    await player.invite({ ...invite, epoch: 3 }, TOKEN);
    await player.move({ ...request, epoch: 3 }, TOKEN);
    expect(await player.invite(another, TOKEN)).toEqual({ accept: true });
    expect(await player.move({ ...request, your_role: "player_2" }, TOKEN)).toEqual({ move: "player_2" });
    expect(asked).toEqual(["player_1", "player_2"]);
  });

  test("is not ended by a result whose seed is not that of its invitation", async () => {
    const { player } = playerOf({ choose: () => "rock" });
    await player.invite(another, TOKEN);
    expect(await player.finish(result, TOKEN)).toBeNull();
    expect(await player.finish({ ...result, seed: "another" }, TOKEN)).toMatchObject({ matchId: "M1" });
  });
});

test("a request of a newer epoch than the player was invited to is answered after its invitation alone", async () => {
  const { player } = playerOf({ choose: () => "rock" });
  await player.invite(invite, TOKEN);
  expect(await player.move({ ...request, epoch: 2 }, TOKEN)).toBe("unknown_match");
  await player.invite({ ...invite, epoch: 2 }, TOKEN);
  expect(await player.move({ ...request, epoch: 2 }, TOKEN)).toEqual({ move: "rock" });
});

test("a bot whose start or end throws plays on, and it is told", async () => {
  const fail = (what: string) => (): never => {
    throw new Error(what);
  };
  const { player, said } = playerOf({ start: fail("no start"), choose: () => "rock", end: fail("no end") });
  expect(await player.invite(invite, TOKEN)).toEqual({ accept: true });
  expect(await player.move(request, TOKEN)).toEqual({ move: "rock" });
  expect(await player.finish({ ...result, winner: "P01" }, TOKEN)).toMatchObject({ matchId: "M1" });
  expect(said).toEqual(["no start", "no end"]);
  expect(player.state(false)).toMatchObject({ matches_begun: 1, matches_won: 1, playing: [] });
});

test("an invitation whose bot could not be made is accepted when it is repeated, and not taken for that of a match that is over", async () => {
  let made = 0;
  const create = (): BotObject => {
    if (++made === 1) throw new Error("no bot");
    return { choose: () => "rock" };
  };
  const player = new Player({ name: "bot", file: null, looksBack: false, create }, () => {}, systemClock);
  await expect(player.invite(invite, TOKEN, "its message id")).rejects.toThrow("no bot");
  expect(await player.invite(invite, TOKEN, "its message id")).toEqual({ accept: true });
});

test("an invitation to a game that the bot does not play, or that nobody knows, is declined", async () => {
  const engine = { name: "engine", file: null, looksBack: false, games: ["chess.v1"] as const };
  const player = new Player({ ...engine, create: () => ({ choose: () => "e2e4" }) }, () => {}, systemClock);
  const answers = ["rps.v1", "go.v1", "chess.v1"].map((game) =>
    player.invite({ ...invite, game, match_id: game }, TOKEN),
  );
  expect(await Promise.all(answers)).toMatchObject([{ accept: false }, { accept: false }, { accept: true }]);
  expect(await player.move({ ...request, match_id: "rps.v1" }, TOKEN)).toBe("unknown_match");
});

test("of more than 10,000 matches that never ended the oldest goes, and no other", async () => {
  const { player } = playerOf({ choose: () => "rock" });
  for (let match = 0; match <= 10_000; match++) await player.invite({ ...invite, match_id: `M${match}` }, TOKEN);
  const asked = [0, 1, 10_000].map((match) => player.move({ ...request, match_id: `M${match}` }, TOKEN));
  expect(await Promise.all(asked)).toEqual(["unknown_match", { move: "rock" }, { move: "rock" }]);
});

describe("a message with another role than that of the invitation is rejected", () => {
  const asOther = { your_role: "player_2" };

  test("as a move request, and the bot is not asked", async () => {
    const asked: Turn[] = [];
    const { player } = playerOf({
      choose(turn: Turn) {
        asked.push(turn);
        return "rock";
      },
    });
    await player.invite(invite, TOKEN);
    expect(await player.move({ ...request, ...asOther }, TOKEN)).toBe("wrong_role");
    expect(await player.move({ ...request, your_role: "toString" }, TOKEN)).toBe("wrong_role");
    expect(asked).toHaveLength(0);
    expect(await player.move(request, TOKEN)).toEqual({ move: "rock" });
  });

  test("as a repeated invitation, but a later epoch may have other roles", async () => {
    const { player } = playerOf({ choose: ({ role }) => role });
    await player.invite(invite, TOKEN);
    expect(await player.invite({ ...invite, ...asOther }, TOKEN)).toBe("wrong_role");
    expect(await player.invite({ ...invite, ...asOther, epoch: 2 }, TOKEN)).toEqual({ accept: true });
    expect(await player.move({ ...request, ...asOther, epoch: 2 }, TOKEN)).toEqual({ move: "player_2" });
  });

  test("as an invitation whose roles do not have it", async () => {
    const { player } = playerOf({ choose: () => "rock" });
    for (const your_role of ["player_3", "toString"])
      expect(await player.invite({ ...invite, your_role }, TOKEN)).toBe("wrong_role");
    expect(await player.move(request, TOKEN)).toBe("unknown_match");
  });
});
