import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { freePorts } from "#shared/runtime/process/free-ports.ts";
import { storedState } from "../../../league-manager/testing/stored-state.ts";
import {
  type ForeignPlayer,
  type ForeignPlayerOptions,
  foreignPlayer,
  type Json,
  laterAnswer,
  usualAnswer,
} from "../../testing/foreign-player.ts";
import { cleanUp, newFolder, type Running, start } from "../../testing/processes.ts";

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

/** Starts a manager process whose config lists the players of other dialects Ann, P01, and Bob, P02. They play two matches, R1M1 and R2M1. */
async function startLeague(game: object, ann: PlayerOptions, bob: PlayerOptions) {
  const [managerPort = 0, ...ports] = await freePorts(5);
  const players = [foreignPlayer({ ...ann, name: "Ann" }), foreignPlayer({ ...bob, name: "Bob" })];
  const folder = newFolder();
  const manager = `http://127.0.0.1:${managerPort}/mcp`;
  const base = ["--data", folder, "--port"];
  const config = {
    manager: { port: managerPort },
    referees: { count: 0 },
    players: players.map(({ name, dialect }, index) => ({
      ...{ name, dialect, endpoint: `http://127.0.0.1:${ports[index + 2]}/mcp` },
    })),
    leagues: [{ league_id: "l", ...game, format_options: { cycles: 2 } }],
    timeouts: { join_ms: 60_000, move_ms: 60_000 },
  };
  const file = join(folder, "league.json");
  writeFileSync(file, JSON.stringify(config));
  for (const [index, { start: listen, name }] of players.entries()) {
    const { stop } = await listen({ name, port: ports[index + 2] ?? 0, manager, dataFolder: folder });
    onTestFinished(stop);
  }
  return {
    players: players.map(({ player }) => player) as [ForeignPlayer, ForeignPlayer],
    async startManager(): Promise<Running> {
      const running = start("league-manager/main.ts", [...base, `${managerPort}`, "--config", file, "--players", "2"]);
      await running.line(/league manager at/);
      return running;
    },
    async startReferee(number: 1 | 2): Promise<Running> {
      const running = start("referee/main.ts", [...base, `${ports[number - 1]}`, "--manager", manager]);
      await running.line(/registered as REF/);
      return running;
    },
    async matches() {
      const { leagues } = await storedState(folder, ["l"]);
      const matches = leagues.get("l")?.rounds.flatMap((round) => round.matches) ?? [];
      return matches.map(({ matchId, epoch, outcome }) => ({ matchId, epoch, termination: outcome?.termination }));
    },
  };
}

const kill = async (running: Running): Promise<void> => {
  running.signal("SIGKILL");
  await running.ended;
};

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
    await kill(referee);
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
    await kill(referee);
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
  await kill(first);
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
  await kill(first);
  const second = await league.startManager();
  ann.release();
  await second.line(/league l is completed/);
  const [player] = league.players;
  expect(player.of("LEAGUE_COMPLETED")).toMatchObject([{ total_rounds: 2, total_matches: 2 }]);
  expect(player.of("ROUND_COMPLETED").map(({ round_id }) => round_id)).toEqual([1, 2]);
  expect(await league.matches()).toEqual(NORMAL);
});
