import { expect, onTestFinished, test } from "vitest";
import { playedBy } from "../../testing/foreign-match.ts";
import { foreignPlayer, type Json } from "../../testing/foreign-player.ts";
import { startTestLeague } from "../../testing/in-process-league.ts";

/** The other player must answer within the time for a move on a slow machine. */
const timeouts = { join_ms: 20_000, move_ms: 5_000 };
const isCall = ({ message }: Json): boolean => message?.message_type === "CHOOSE_PARITY_CALL";

test("a player that answers no call receives GAME_ERROR E001 TIMEOUT_ERROR", async () => {
  const { player, match } = await playedBy({ respond: (_, received) => isCall(received) }, { timeouts });
  expect(match.result.faults).toMatchObject([{ player_id: "P01", code: "G002", cause: "timeout" }]);
  const errors = player.received.filter(({ body }) => body.method === "notify_game_error");
  expect(errors[0]?.body.params).toMatchObject({ error_code: "E001", error_description: "TIMEOUT_ERROR" });
});

test("a player that loses on time receives E001, and its limits are those of its clock", async () => {
  const clock = { initial_ms: 5_000, increment_ms: 0 };
  const { player, match } = await playedBy(
    { respond: (_, received) => isCall(received) },
    { leagues: [{ league_id: "parity", game: "even_odd.v1", options: { variant: "draw" }, clock }] },
  );
  expect(match.result.faults).toMatchObject([{ player_id: "P01", code: "G002", cause: "clock" }]);
  const [call] = player.received.filter(isCall);
  expect(call?.message.time_limit_seconds).toBe(5);
  const errors = player.received.filter(({ body }) => body.method === "notify_game_error");
  expect(errors[0]?.body.params).toMatchObject({ error_code: "E001", error_description: "TIMEOUT_ERROR" });
  expect(player.of("GAME_OVER")[0]?.game_result).toMatchObject({ status: "TECHNICAL_LOSS", reason: "time over" });
});

test("a player that closes the connection of each call receives GAME_ERROR E009 CONNECTION_ERROR", async () => {
  const { player, match } = await playedBy(
    {
      respond(response, received) {
        if (isCall(received)) response.destroy();
        return isCall(received);
      },
    },
    // After the pauses of 50 to 800 ms a further pause does not fit, so that the last attempt ends long before the limit.
    { timeouts: { join_ms: 20_000, move_ms: 3_000 } },
  );
  expect(match.result.faults).toMatchObject([{ player_id: "P01", code: "G002", cause: "refused" }]);
  const errors = player.received.filter(({ body }) => body.method === "notify_game_error");
  expect(errors[0]?.body.params).toMatchObject({ error_code: "E009", error_description: "CONNECTION_ERROR" });
});

test("both players of a forfeited match receive GAME_OVER with the status TECHNICAL_LOSS and the winner", async () => {
  const ann = foreignPlayer({ name: "Ann", respond: (_, received) => isCall(received) });
  const bob = foreignPlayer({ name: "Bob" });
  const league = await startTestLeague({
    leagues: [{ league_id: "parity", game: "even_odd.v1", options: { variant: "draw" } }],
    players: [ann, bob],
    timeouts,
  });
  onTestFinished(() => league.stop());
  await league.completed;
  const results = [ann, bob].map(({ player }) =>
    player.of("GAME_OVER").map(({ game_result, ...over }) => ({
      status: game_result.status,
      winners: [game_result.winner_player_id, over.winner_player_id, over.winner],
      result: over.result,
      points: over.points,
    })),
  );
  const same = { status: "TECHNICAL_LOSS", winners: ["P02", "P02", "P02"] };
  expect(results).toEqual([[{ ...same, result: "LOSS", points: 0 }], [{ ...same, result: "WIN", points: 3 }]]);
});
