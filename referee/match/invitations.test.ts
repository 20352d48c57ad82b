import { afterEach, expect, it } from "vitest";
import { evenOddRoles, startTestReferee, type TestReferee } from "../testing/match.ts";

let referee: TestReferee;
afterEach(() => referee.stop());

it("a league match is in status waiting_for_players until both players have accepted", async () => {
  const mayAccept = Promise.withResolvers<never>();
  referee = await startTestReferee({
    player: ({ type, to }) => (type === "GAME_INVITE" && to === "P02" ? mayAccept.promise : null),
    move: () => 1,
  });
  await referee.begin({ game: "even_odd.v1", roles: evenOddRoles(referee) });
  await referee.waitFor("P02", "GAME_INVITE");
  const url = referee.url.replace("/mcp", "");
  const state = () => referee.tool("get_game_state", { match_id: "R1M1" });
  const waiting = await state();
  expect(waiting).toMatchObject({ status: "waiting_for_players", state: { phase: "WAITING_FOR_PLAYERS" } });
  const { result } = await referee.call("resources/read", { uri: "game://state/rps/R1M1" });
  expect(JSON.parse(result.contents[0].text)).toMatchObject({ status: "waiting_for_players" });
  const page = await (await fetch(`${url}/api/games/${waiting.session_id}`)).json();
  expect(page).toMatchObject({ status: "waiting_for_players", state: { phase: "WAITING_FOR_PLAYERS" } });
  const { games } = (await (await fetch(`${url}/api/games`)).json()) as { games: { status: string }[] };
  expect(games.map(({ status }) => status)).toEqual(["waiting_for_players"]);
  expect(await referee.tool("validate_move", { player_id: "P01", move: 1 })).toMatchObject({
    valid: false,
    reason: "Waiting for players: not all of them have accepted the invitation",
  });
  mayAccept.resolve(null as never);
  await referee.waitFor("manager", "MATCH_RESULT");
  expect(await state()).toMatchObject({ status: "completed", state: { phase: "FINISHED" } });
});
