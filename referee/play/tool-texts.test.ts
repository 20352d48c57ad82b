import { afterAll, beforeAll, expect, it } from "vitest";
import { rpcRequest } from "#shared/rpc/testing/json-rpc.ts";
import { startTestHost, type TestHost } from "../rest/testing/host.ts";
import { createGame, joinGame, play, tool, twoSeats } from "./testing/play.ts";

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(() => host.remove());

const ask = async (method: string, params: object) => {
  const body = rpcRequest(method, params);
  return (await host.call("POST", "/mcp", { body, headers: { "content-type": "application/json" } })).json.result;
};

it("createGame and joinGame return the URL of the page of the game, which needs no token", async () => {
  for (const opponent of ["agent", "greedy", "human"]) {
    const { answer, gameId } = await createGame(host, { template: "chess", opponent });
    const page = `${host.url}/game/${gameId}`;
    expect(answer.text.split("\n")).toContain(`Page of the game, where anyone can watch it: ${page}`);
    expect((await fetch(page)).status).toBe(200);
    if (opponent !== "agent") continue;
    const joined = await joinGame(host, gameId);
    expect(joined.answer.text.split("\n")).toContain(`Page of the game, where anyone can watch it: ${page}`);
  }
});

it.each(["Chess", "CHESS", "chess.v1", "Tic-tac-toe", "tic tac toe", "Rock, paper, scissors", "RPS", "Even/odd"])(
  "createGame accepts %s as the name of a game",
  async (template) => {
    expect((await tool(host, "createGame", { template, opponent: "human" })).isError).toBe(false);
  },
);

it("createGame and game://rules/{game} describe the options of each game", async () => {
  const { tools } = await ask("tools/list", {});
  const { inputSchema } = tools.find(({ name }: { name: string }) => name === "createGame");
  const { description } = inputSchema.properties.options;
  for (const option of ["best_of (1 to 99", "max_plies (", "rounds_to_win (", "hands (", "starting_team ("]) {
    expect(description).toContain(option);
  }
  const rules = async (game: string) => (await ask("resources/read", { uri: `game://rules/${game}` })).contents[0].text;
  expect(await rules("rps")).toContain("Options:\n- best_of: 1 to 99");
  expect(await rules("Chess")).toContain("- fen: ");
  expect(await rules("connect_four.v1")).toContain("This game has no options.");
});

it("createGame names each option that it rejects", async () => {
  const { text } = await tool(host, "createGame", { template: "rps", options: { best_of: "three", rounds: 1 } });
  expect(text).toBe('options: best_of: must be a number, not text; unknown field "rounds"');
});

it("finishTurn explains the rejection of a move in SAN and of a promotion without a piece", async () => {
  const [white] = await twoSeats(host, "chess");
  expect((await white.move("Nd4")).text).toMatch(
    /^Illegal move Nd4: no knight of white can go to d4\. Legal moves: a2a3/,
  );
  const fen = "3r3k/4P3/8/8/8/8/8/4K3 w - - 0 1";
  const [pawn] = await twoSeats(host, "chess", { options: { fen } });
  expect((await pawn.move("e8")).text).toContain("the pawn promotes on e8: add the piece (Q, R, B or N), e.g. e8=Q");
  expect((await pawn.move("e7e8")).text).toContain("add the piece (q, r, b or n), e.g. e7e8q");
  const args = { match_id: pawn.gameId, player_id: "white", move: "e8" };
  expect((await tool(host, "validate_move", args)).value.reason).toContain("e.g. e8=Q");
  await play([pawn], ["e8=Q"]);
});
