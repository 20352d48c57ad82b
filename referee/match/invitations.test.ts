import { afterEach, expect, it } from "vitest";
import { evenOddRoles, startTable, type Table } from "../testing/match.ts";

let table: Table;
afterEach(() => table.stop());

it("a league match waits for its players until both have accepted, and then begins", async () => {
  const mayAccept = Promise.withResolvers<never>();
  table = await startTable({
    player: ({ type, to }) => (type === "GAME_INVITE" && to === "P02" ? mayAccept.promise : null),
    move: () => 1,
  });
  await table.begin({ game: "even_odd.v1", roles: evenOddRoles(table) });
  await table.told("P02", "GAME_INVITE");
  const url = table.url.replace("/mcp", "");
  const state = () => table.tool("get_game_state", { match_id: "R1M1" });
  const waiting = await state();
  expect(waiting).toMatchObject({ status: "waiting_for_players", state: { phase: "WAITING_FOR_PLAYERS" } });
  const { result } = await table.call("resources/read", { uri: "game://state/rps/R1M1" });
  expect(JSON.parse(result.contents[0].text)).toMatchObject({ status: "waiting_for_players" });
  const page = await (await fetch(`${url}/api/games/${waiting.session_id}`)).json();
  expect(page).toMatchObject({ status: "waiting_for_players", state: { phase: "WAITING_FOR_PLAYERS" } });
  const { games } = (await (await fetch(`${url}/api/games`)).json()) as { games: { status: string }[] };
  expect(games.map(({ status }) => status)).toEqual(["waiting_for_players"]);
  expect(await table.tool("validate_move", { player_id: "P01", move: 1 })).toMatchObject({
    valid: false,
    reason: "Waiting for players: not all of them have accepted the invitation",
  });
  mayAccept.resolve(null as never);
  await table.told("manager", "MATCH_RESULT");
  expect(await state()).toMatchObject({ status: "completed", state: { phase: "FINISHED" } });
});
