import { afterEach, describe, expect, test } from "vitest";
import {
  type ForeignPlayer,
  type ForeignPlayerOptions,
  type Json,
  laterAnswer,
  usualAnswer,
} from "../../testing/foreign-player.ts";
import { cleanUp } from "../../testing/processes.ts";
import { crash, type ForeignLeague, foreignLeague } from "../testing/foreign-league.ts";

afterEach(cleanUp);

type PlayerOptions = Omit<ForeignPlayerOptions, "name">;

const CLASSROOM: PlayerOptions = {
  dialect: "classroom",
  answer: (message) => usualAnswer(message, { id: "P01", token: "" }),
};
const LEAGUE_V1: PlayerOptions = {
  dialect: "league.v1",
  understand: ({ params }) => (params?.protocol === "league.v1" ? params : null),
  answer: (message) => (message.message_type === "MOVE_REQUEST" ? { move: message.valid_moves[0] } : { status: "ok" }),
};

/** Prepares a league whose config lists the players of other dialects Ann, P01, and Bob, P02. They play two matches, R1M1 and R2M1. */
async function startLeague(
  game: object,
  ann: PlayerOptions,
  bob: PlayerOptions,
): Promise<ForeignLeague & { readonly players: readonly [ForeignPlayer, ForeignPlayer] }> {
  const players = [
    { ...ann, name: "Ann" },
    { ...bob, name: "Bob" },
  ];
  const league = await foreignLeague({ ...game, format_options: { cycles: 2 } }, players);
  await league.startPlayers();
  return { ...league, players: league.players as [ForeignPlayer, ForeignPlayer] };
}

/** A player that withholds its answer to the first message for which `isHeld` is true until `release` is called. `reached` resolves when it has arrived. */
function holding(options: PlayerOptions, isHeld: (message: Json, self: ForeignPlayer) => boolean) {
  const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const answer: PlayerOptions["answer"] = async (message, self) => {
    if (isHeld(message, self)) {
      reached.resolve();
      await released.promise;
    }
    return options.answer?.(message, self);
  };
  return { options: { ...options, answer }, reached: reached.promise, release: released.resolve };
}

/** A message without the fields that depend on the time. */
const timeless = ({ timestamp: _, deadline: __, time_limit_seconds: ___, ...message }: Json): Json => message;

const NORMAL = [
  { matchId: "R1M1", epoch: 1, termination: "normal" },
  { matchId: "R2M1", epoch: 1, termination: "normal" },
];
const CALLS = ["CHOOSE_PARITY_CALL", "GAME_MOVE_CALL", "MOVE_REQUEST"];
const RESULTS = ["GAME_OVER", "GAME_END"];
const ofSecondMatch =
  (types: readonly string[]) =>
  ({ message }: Json): boolean =>
    types.includes(message?.message_type) && message.match_id === "R2M1";
const messagesTo = ({ received }: ForeignPlayer, types: readonly string[]): Json[] =>
  received.filter(ofSecondMatch(types)).map(({ message }) => timeless(message));

describe.each([
  ["classroom", CLASSROOM],
  ["league.v1", LEAGUE_V1],
] as const)("a referee that is killed during a match of a player of %s", (_, options) => {
  test.each([
    ["even_odd.v1", { variant: "sum", rounds_to_win: 2, max_rounds: 3 }],
    ["even_odd.v1", { variant: "draw", rounds_to_win: 2, max_rounds: 3 }],
    ["rps.v1", { best_of: 3 }],
    ["tic_tac_toe.v1", {}],
  ])("sends the same move request again after its restart, and reads the answer, in %s %j", async (game, options_) => {
    const isSecondCall = (message: Json, self: ForeignPlayer): boolean =>
      ofSecondMatch(CALLS)({ message }) && messagesTo(self, CALLS).length === 2;
    const ann = holding(options, isSecondCall);
    const league = await startLeague({ game, options: options_ }, ann.options, options);
    const manager = await league.startManager();
    const referee = await league.startReferee(1);
    await ann.reached;
    await crash(referee);
    const [player] = league.players;
    const [, before] = messagesTo(player, CALLS);
    ann.release();
    await league.startReferee(1);
    await manager.line(/league l is completed/);
    const [, , after] = messagesTo(player, CALLS);
    expect(after).toEqual(before);
    expect(await league.matches()).toEqual(NORMAL);
    expect(player.received.filter(ofSecondMatch(["GAME_INVITATION", "GAME_START"]))).toHaveLength(1);
  });

  test("sends the same result again after its restart", async () => {
    const isFirstResult = (message: Json, self: ForeignPlayer): boolean =>
      ofSecondMatch(RESULTS)({ message }) && messagesTo(self, RESULTS).length === 1;
    const ann = holding(options, isFirstResult);
    const game = { game: "even_odd.v1", options: { variant: "draw", rounds_to_win: 2, max_rounds: 3 } };
    const league = await startLeague(game, ann.options, options);
    const manager = await league.startManager();
    const referee = await league.startReferee(1);
    await ann.reached;
    await crash(referee);
    ann.release();
    await league.startReferee(1);
    await manager.line(/league l is completed/);
    const [before, after] = messagesTo(league.players[0], RESULTS);
    expect(after).toEqual(before);
    expect(await league.matches()).toEqual(NORMAL);
  });
});

test("a player that answers to the referee of the announcement learns to which referee its match has moved", async () => {
  const later: PlayerOptions["answer"] = (message, self) => laterAnswer(message, { ...self, id: "P01", of: self.of });
  const game = { game: "even_odd.v1", options: { variant: "draw" } };
  const bob = holding(CLASSROOM, (message) => ofSecondMatch(CALLS)({ message }));
  const league = await startLeague(game, { dialect: "classroom", answer: later }, bob.options);
  const manager = await league.startManager();
  const first = await league.startReferee(1);
  await bob.reached;
  await league.startReferee(2);
  await crash(first);
  bob.release();
  await manager.line(/league l is completed/);
  expect(await league.matches()).toEqual([NORMAL[0], { ...NORMAL[1], epoch: 2 }]);
});

test("a restarted manager names all matches of the league in LEAGUE_COMPLETED", async () => {
  const ann = holding(CLASSROOM, (message) => ofSecondMatch(CALLS)({ message }));
  const league = await startLeague({ game: "even_odd.v1", options: { variant: "draw" } }, ann.options, CLASSROOM);
  const first = await league.startManager();
  await league.startReferee(1);
  await ann.reached;
  await crash(first);
  const second = await league.startManager();
  ann.release();
  await second.line(/league l is completed/);
  const [player] = league.players;
  expect(player.of("LEAGUE_COMPLETED")).toMatchObject([{ total_rounds: 2, total_matches: 2 }]);
  expect(player.of("ROUND_COMPLETED").map(({ round_id }) => round_id)).toEqual([1, 2]);
  expect(await league.matches()).toEqual(NORMAL);
});
