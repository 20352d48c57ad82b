import { describe, expect, test } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import type { GameInvite, GameResult, MoveRequest } from "#shared/protocol/messages.ts";
import { LoggedFault, type MatchBot } from "../loaded-bot.ts";
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
  league_id: "l",
  match_id: "M1",
  epoch: 1,
  tick: 0,
  game_round: 1,
  your_role: "player_1",
  game_state: {},
  time_limit_seconds: 60,
  deadline: "2026-01-01T00:00:00Z",
};
const result: GameResult = {
  league_id: "l",
  match_id: "M1",
  epoch: 1,
  winner: null,
  final_scores: {},
  match_points: {},
  termination: "normal",
  reason: "drawn",
  seed: "seed",
  log_head: "",
};

function playerOf(bot: BotObject) {
  const lines: string[] = [];
  const loaded = { name: "bot", readsHistory: false, create: () => bot };
  const player = new Player(loaded, (line) => void lines.push(line), systemClock);
  return { player, lines };
}

/** A player whose bot does not choose until its signal is aborted. Resolves with the player and its pending answer. */
async function startThinking() {
  const turns: Turn[] = [];
  const choose = (turn: Turn): Promise<never> => {
    turns.push(turn);
    return new Promise((_, reject) =>
      turn.signal.addEventListener("abort", () => reject(new Error("the signal was aborted"))),
    );
  };
  const { player } = playerOf({ choose });
  await player.invite(invite, TOKEN);
  const answer = player.move(request, TOKEN);
  expect(turns.map(({ signal }) => signal.aborted)).toEqual([false]);
  return { player, answer };
}

test.each([
  [5, 4_000],
  [0.4, 300],
  [0, 0],
  [-5, 0],
  [1e300, 2 ** 31 - 1 - 1_000],
  [undefined, undefined],
])("an invitation with the time limit %s s leaves the bot %s ms for its start", async (time_limit_seconds, waitMs) => {
  const waits: unknown[] = [];
  const create = (): MatchBot => ({ choose: () => null, start: (_, ms) => void waits.push(ms) });
  const player = new Player({ name: "bot", readsHistory: false, create }, () => {}, systemClock);
  await player.invite({ ...invite, time_limit_seconds }, TOKEN);
  expect(waits).toEqual([waitMs]);
});

describe("an open turn is aborted", () => {
  const aborted = { failed: "the signal was aborted" };
  const withdrawn = { failed: "the match was withdrawn" };

  test("when its match has ended", async () => {
    const { player, answer } = await startThinking();
    expect(await player.finish(result, TOKEN)).toMatchObject({ matchId: "M1" });
    expect(await answer).toEqual(aborted);
  });

  test("when its match begins again under a newer epoch", async () => {
    const { player, answer } = await startThinking();
    expect(await player.invite({ ...invite, epoch: 2 }, TOKEN)).toEqual({ accept: true });
    expect(await answer).toEqual(withdrawn);
  });

  test("when the player stops", async () => {
    const { player, answer } = await startThinking();
    player.close();
    expect(await answer).toEqual(withdrawn);
  });

  test("when its time has passed", async () => {
    const choose = (turn: Turn) =>
      new Promise((resolve) => turn.signal.addEventListener("abort", () => resolve("rock")));
    const { player } = playerOf({ choose });
    await player.invite(invite, TOKEN);
    expect(await player.move({ ...request, time_limit_seconds: 0.01 }, TOKEN)).toEqual({ move: "rock" });
  });
});

describe("a repeated request", () => {
  /** A player whose bot gives these answers one after the other; it throws those that are errors. */
  async function playerAnswering(...answers: (string | Error)[]) {
    const choose = (): string => {
      const answer = answers.shift();
      if (typeof answer !== "string") throw answer;
      return answer;
    };
    const { player } = playerOf({ choose });
    await player.invite(invite, TOKEN);
    return player;
  }

  test("gets the same answer again, and another one if it contains the error of the answer", async () => {
    const player = await playerAnswering("lizard", "rock");
    const moves = [
      await player.move(request, TOKEN),
      await player.move(request, TOKEN),
      await player.move({ ...request, error: { error_code: "G001" } }, TOKEN),
      await player.move(request, TOKEN),
    ];
    expect(moves).toEqual(["lizard", "lizard", "rock", "rock"].map((move) => ({ move })));
  });

  test("contains the reason of the rejection on one line", async () => {
    const reasons: (string | null)[] = [];
    const { player } = playerOf({ choose: ({ rejection }) => void reasons.push(rejection) });
    await player.invite(invite, TOKEN);
    const errors = [undefined, { message: "illegal move:\na clue" }, { message: 3 }, "no"];
    for (const error of errors) await player.move({ ...request, error }, TOKEN);
    expect(reasons).toEqual([null, "illegal move: a clue", "3", "the answer was rejected"]);
  });

  test("is answered with the fault that the bot has logged, without another line", async () => {
    const { player, lines } = playerOf({ choose: () => Promise.reject(new LoggedFault("no answer in time")) });
    await player.invite(invite, TOKEN);
    expect(await player.move(request, TOKEN)).toEqual({ failed: "no answer in time" });
    expect(lines).toEqual([]);
  });

  test("is visible only to the owner of the player, until the bot has chosen", async () => {
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

  test("is answered with the reason if the bot returned nothing", async () => {
    const { player } = playerOf({ choose: () => undefined });
    await player.invite(invite, TOKEN);
    expect(await player.move(request, TOKEN)).toEqual({ failed: "the bot returned nothing; it must return an action" });
  });

  test("is answered by the bot again after an error that it threw", async () => {
    const player = await playerAnswering(new Error("not yet"), "rock");
    expect([await player.move(request, TOKEN), await player.move(request, TOKEN)]).toEqual([
      { failed: "not yet" },
      { move: "rock" },
    ]);
  });
});

describe("a match of another run under the same name", () => {
  const another = { ...invite, seed_commitment: sha256Hex("another"), your_role: "player_2", bot_seed: "another" };

  test("begins without the role and the answers of the unfinished match", async () => {
    const roles: string[] = [];
    const { player } = playerOf({ choose: ({ role }) => roles[roles.push(role) - 1] });
    await player.invite({ ...invite, epoch: 3 }, TOKEN);
    await player.move({ ...request, epoch: 3 }, TOKEN);
    expect(await player.invite(another, TOKEN)).toEqual({ accept: true });
    expect(await player.move({ ...request, your_role: "player_2" }, TOKEN)).toEqual({ move: "player_2" });
    expect(roles).toEqual(["player_1", "player_2"]);
  });

  test("is ended only by a result with the seed of its invitation", async () => {
    const { player } = playerOf({ choose: () => "rock" });
    await player.invite(another, TOKEN);
    expect(await player.finish(result, TOKEN)).toBeNull();
    expect(await player.finish({ ...result, seed: "another" }, TOKEN)).toMatchObject({ matchId: "M1" });
  });
});

test("a request of a newer epoch is answered only after the invitation of that epoch", async () => {
  const { player } = playerOf({ choose: () => "rock" });
  await player.invite(invite, TOKEN);
  expect(await player.move({ ...request, epoch: 2 }, TOKEN)).toBe("unknown_match");
  await player.invite({ ...invite, epoch: 2 }, TOKEN);
  expect(await player.move({ ...request, epoch: 2 }, TOKEN)).toEqual({ move: "rock" });
});

test("an invitation of an older epoch begins no match, also after the end of the newer one, but one of another run does", async () => {
  const { player } = playerOf({ choose: () => "rock" });
  const declined = { accept: false, reason: "the match has a newer epoch" };
  await player.invite({ ...invite, epoch: 2 }, TOKEN, "the newer one");
  expect(await player.invite(invite, TOKEN, "the older one")).toEqual(declined);
  await player.finish({ ...result, epoch: 2 }, TOKEN);
  expect(await player.invite(invite, TOKEN, "the older one")).toEqual(declined);
  expect(await player.invite(invite, TOKEN, "another older one")).toEqual(declined);
  expect(await player.invite({ ...invite, epoch: 2 }, TOKEN, "the newer one")).toMatchObject({ accept: false });
  expect(await player.invite({ ...invite, seed_commitment: sha256Hex("other") }, TOKEN)).toEqual({ accept: true });
});

test("errors in start and end of a bot are shown, and the match continues", async () => {
  const fail = (message: string) => (): never => {
    throw new Error(message);
  };
  const { player, lines } = playerOf({ start: fail("no start"), choose: () => "rock", end: fail("no end") });
  expect(await player.invite(invite, TOKEN)).toEqual({ accept: true });
  expect(await player.move(request, TOKEN)).toEqual({ move: "rock" });
  expect(await player.finish({ ...result, winner: "P01" }, TOKEN)).toMatchObject({ matchId: "M1" });
  expect(lines).toEqual(["no start", "no end"]);
  expect(player.state(false)).toMatchObject({ matches_begun: 1, matches_won: 1, playing: [] });
});

test("an invitation whose bot object could not be created is accepted when it is repeated", async () => {
  let made = 0;
  const create = (): BotObject => {
    if (++made === 1) throw new Error("no bot");
    return { choose: () => "rock" };
  };
  const player = new Player({ name: "bot", readsHistory: false, create }, () => {}, systemClock);
  await expect(player.invite(invite, TOKEN, "its message id")).rejects.toThrow("no bot");
  expect(await player.invite(invite, TOKEN, "its message id")).toEqual({ accept: true });
});

test("an invitation to a game that the bot does not play, or to an unknown game, is declined", async () => {
  const engine = { name: "engine", readsHistory: false, games: ["chess.v1"] as const };
  const player = new Player({ ...engine, create: () => ({ choose: () => "e2e4" }) }, () => {}, systemClock);
  const answers = ["rps.v1", "go.v1", "chess.v1"].map((game) =>
    player.invite({ ...invite, game, match_id: game }, TOKEN),
  );
  expect(await Promise.all(answers)).toMatchObject([{ accept: false }, { accept: false }, { accept: true }]);
  expect(await player.move({ ...request, match_id: "rps.v1" }, TOKEN)).toBe("unknown_match");
});

test("a bot of all games plays an unknown game with the legal actions of the requests", async () => {
  const { player, lines } = playerOf({ choose: ({ legal }: Turn) => legal[1] });
  expect(await player.invite({ ...invite, game: "nim.v1" }, TOKEN)).toEqual({ accept: true });
  expect(await player.move({ ...request, legal_actions: [1, 2] }, TOKEN)).toEqual({ move: 2 });
  const failed = "nim.v1 is unknown to this player, and the request has no legal_actions";
  expect(await player.move({ ...request, tick: 1 }, TOKEN)).toEqual({ failed });
  expect(lines).toEqual([failed]);
});

test("a player keeps 10,000 matches and then drops the oldest one", async () => {
  const { player } = playerOf({ choose: () => "rock" });
  for (let match = 0; match <= 10_000; match++) await player.invite({ ...invite, match_id: `M${match}` }, TOKEN);
  const answers = [0, 1, 10_000].map((match) => player.move({ ...request, match_id: `M${match}` }, TOKEN));
  expect(await Promise.all(answers)).toEqual(["unknown_match", { move: "rock" }, { move: "rock" }]);
});

describe("another role than that of the invitation is rejected", () => {
  const asOther = { your_role: "player_2" };

  test("in a move request, and the bot is not asked", async () => {
    const turns: Turn[] = [];
    const { player } = playerOf({
      choose(turn: Turn) {
        turns.push(turn);
        return "rock";
      },
    });
    await player.invite(invite, TOKEN);
    expect(await player.move({ ...request, ...asOther }, TOKEN)).toBe("wrong_role");
    expect(await player.move({ ...request, your_role: "toString" }, TOKEN)).toBe("wrong_role");
    expect(turns).toHaveLength(0);
    expect(await player.move(request, TOKEN)).toEqual({ move: "rock" });
  });

  test("in a repeated invitation, but not in one of a later epoch", async () => {
    const { player } = playerOf({ choose: ({ role }) => role });
    await player.invite(invite, TOKEN);
    expect(await player.invite({ ...invite, ...asOther }, TOKEN)).toBe("wrong_role");
    expect(await player.invite({ ...invite, ...asOther, epoch: 2 }, TOKEN)).toEqual({ accept: true });
    expect(await player.move({ ...request, ...asOther, epoch: 2 }, TOKEN)).toEqual({ move: "player_2" });
  });

  test("in an invitation whose roles do not contain it", async () => {
    const { player } = playerOf({ choose: () => "rock" });
    for (const your_role of ["player_3", "toString"])
      expect(await player.invite({ ...invite, your_role }, TOKEN)).toBe("wrong_role");
    expect(await player.move(request, TOKEN)).toBe("unknown_match");
  });
});
