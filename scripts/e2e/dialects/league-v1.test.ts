import { expect, onTestFinished, test } from "vitest";
import { foreignPlayer, type Json } from "../../testing/foreign-player.ts";
import { startTestLeague } from "../../testing/in-process-league.ts";

const UUID = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
/** The common fields of the messages of a referee, as the specification of league.v1 has them. */
const HEAD = {
  protocol: "league.v1",
  league_id: "league_2024_01",
  round_id: 1,
  match_id: "R1M1",
  conversation_id: UUID,
  sender: "referee",
  timestamp: TIME,
};
const CONFIG = { game_type: "even_odd", rounds_to_win: 3, max_rounds: 5, time_limit_seconds: 30 };
const PLAYERS = [
  { player_id: "P01", role: "ODD" },
  { player_id: "P02", role: "EVEN" },
];
/** The numbers of both players in each round: ODD wins the first, third and fifth. */
const NUMBERS = { P01: [3, 3, 3, 3, 3], P02: [2, 3, 2, 3, 2] } as const;

/** A program of league.v1 that registers with every field of the specification. */
const program = (name: string) =>
  foreignPlayer({
    name,
    register: (message: Json) => ({
      jsonrpc: "2.0",
      method: "register_player",
      id: 1,
      params: { ...message, protocol: "league.v1", league_id: HEAD.league_id, conversation_id: CONVERSATION },
    }),
    understand: ({ params }: Json) => params,
    answer: (message: Json, { id }) =>
      message.message_type === "MOVE_REQUEST"
        ? {
            protocol: "league.v1",
            message_type: "MOVE_RESPONSE",
            match_id: message.match_id,
            sender: `player:${id}`,
            move: { number: NUMBERS[id as keyof typeof NUMBERS][message.game_round - 1] },
          }
        : { status: "ok" },
  });
const CONVERSATION = "550e8400-e29b-41d4-a716-446655440000";

test("all messages to a program of league.v1 have the values of the examples in its specification", async () => {
  const [ann, bob] = [program("Ann"), program("Bob")];
  const league = await startTestLeague({
    leagues: [{ league_id: HEAD.league_id, game: "even_odd.v1" }],
    players: [ann, bob],
    timeouts: { move_ms: 30_000 },
  });
  onTestFinished(() => league.stop());
  await league.completed;
  const { registrations, of } = ann.player;

  expect(registrations[0].result).toMatchObject({
    protocol: "league.v1",
    message_type: "LEAGUE_REGISTER_RESPONSE",
    league_id: HEAD.league_id,
    conversation_id: CONVERSATION,
    sender: "league_manager",
    timestamp: TIME,
    status: "ACCEPTED",
    player_id: "P01",
    reason: null,
  });
  expect(of("GAME_START")).toMatchObject([{ ...HEAD, game_config: CONFIG, players: PLAYERS }]);
  const rounds = [
    { moves: { P01: 3, P02: 2 }, sum: 5, sum_type: "ODD", round_winner: "P01", scores: { P01: 1, P02: 0 } },
    { moves: { P01: 3, P02: 3 }, sum: 6, sum_type: "EVEN", round_winner: "P02", scores: { P01: 1, P02: 1 } },
    { moves: { P01: 3, P02: 2 }, sum: 5, sum_type: "ODD", round_winner: "P01", scores: { P01: 2, P02: 1 } },
    { moves: { P01: 3, P02: 3 }, sum: 6, sum_type: "EVEN", round_winner: "P02", scores: { P01: 2, P02: 2 } },
    { moves: { P01: 3, P02: 2 }, sum: 5, sum_type: "ODD", round_winner: "P01", scores: { P01: 3, P02: 2 } },
  ].map((round, index) => ({ game_round: index + 1, ...round }));
  expect(of("MOVE_REQUEST")).toMatchObject(
    rounds.map((_, index) => ({
      ...HEAD,
      game_round: index + 1,
      time_limit_seconds: expect.closeTo(30, 0),
      game_state: {
        your_role: "ODD",
        scores: rounds[index - 1]?.scores ?? { P01: 0, P02: 0 },
        previous_rounds: rounds.slice(0, index),
      },
    })),
  );
  expect(of("ROUND_RESULT")).toMatchObject(rounds.map((round) => ({ ...HEAD, ...round })));
  const end = { final_scores: { P01: 3, P02: 2 }, winner: "P01", match_points: { P01: 3, P02: 0 } };
  expect(of("GAME_END")).toMatchObject([{ ...HEAD, ...end }]);
  // A field of an example with another value is not found by the comparison of parts.
  for (const message of [...of("MOVE_REQUEST"), ...of("ROUND_RESULT")])
    expect(Object.keys(message.scores ?? message.game_state.scores)).toEqual(["P01", "P02"]);
  expect(of("GAME_START")[0].players).toEqual(PLAYERS);
});
