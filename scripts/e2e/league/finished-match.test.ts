import { afterEach, expect, test } from "vitest";
import { callRpc, startTestLeague, type TestLeague } from "../../testing/in-process-league.ts";

let league: TestLeague | undefined;
afterEach(() => league?.stop());

test("validate_move for a completed match is rejected with G004, and with G003 for a player that did not play in it", async () => {
  league = await startTestLeague({
    leagues: [{ league_id: "rps", game: "rps.v1" }],
    players: ["Ann", "Bob"].map((name) => ({ name, bot: "random" })),
  });
  await league.completed;
  const referee = new URL(league.manager);
  referee.port = String(Number(referee.port) + 1); // the referee has the port after the manager's
  const validate = (args: object) =>
    callRpc(referee.href, "tools/call", { name: "validate_move", arguments: { move: "rock", ...args } });
  const rejection = (code: string, message: string) => ({
    isError: true,
    content: [{ text: expect.stringMatching(`"error_code":"${code}".*"message":"${message}`) }],
  });
  for (const match_id of ["R1M1", "rps/R1M1"]) {
    expect(await validate({ player_id: "P01", match_id })).toMatchObject(rejection("G004", "the match is over"));
    expect(await validate({ player_id: "P09", match_id })).toMatchObject(rejection("G003", "P09 has no such match"));
  }
  expect(await validate({ player_id: "P01" })).toMatchObject(rejection("G003", "P01 has no such match"));
});
