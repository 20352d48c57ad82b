import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { rpcToolCall } from "#shared/rpc/testing/json-rpc.ts";
import { callTool, cleanUp, eventually, kill, pidOf, type Running, start } from "../../testing/processes.ts";
import { type TestLeague, testLeague } from "../../testing/test-league.ts";

afterEach(cleanUp);

const TTT = [{ league_id: "ttt", game: "tic_tac_toe.v1" }];

/** Starts a manager whose league has two referees and two people, who play by tools, and plays the first move of each. */
async function startGame() {
  const test = await testLeague([], TTT, { config: { timeouts: { move_ms: 300_000 } } });
  const files = ["--config", test.file, "--data", join(test.folder, "data"), "--players", "2"];
  const manager = start("league-manager/main.ts", files);
  await manager.line(/league manager at/);
  const referees: Running[] = [];
  for (const port of [test.port + 1, test.port + 2]) {
    const place = ["--manager", `http://127.0.0.1:${test.port}/mcp`, "--data", join(test.folder, "data")];
    const referee = start("referee/main.ts", [...place, "--port", String(port)]);
    await referee.line(/registered as REF0/);
    referees.push(referee);
  }
  const people: string[] = [];
  for (const player_name of ["Ann", "Bob"])
    people.push((await play(test, "join_league", { player_name })).player_token);
  const turnOf = async (player_token: string): Promise<Turn | null> =>
    (await play(test, "wait_for_turn", { player_token, timeout_s: 1 })).turns[0] ?? null;
  /** Makes the next move of the game, and returns the board after it. */
  const move = async (): Promise<string> => {
    for (const player_token of people) {
      const turn = await turnOf(player_token);
      if (!turn) continue;
      const [action] = turn.game.legal_actions;
      await play(test, "make_move", { player_token, move: action });
      return turn.game.board;
    }
    return move();
  };
  await move();
  await move();
  return { test, manager, referees, people, turnOf, move };
}

interface Turn {
  readonly game: { readonly board: string; readonly tick: number; readonly legal_actions: readonly unknown[] };
}
interface Play {
  readonly player_token: string;
  readonly turns: readonly Turn[];
  /** The answer as a model reads it. */
  readonly text: string;
}

/** Calls a tool of a person. */
async function play({ port }: TestLeague, tool: string, args: object): Promise<Play> {
  const request = { method: "POST", headers: { "content-type": "application/json" } };
  const response = await fetch(`http://127.0.0.1:${port}/mcp`, {
    ...request,
    body: JSON.stringify(rpcToolCall(tool, args)),
  });
  const { result } = (await response.json()) as { result: { structuredContent: Play; content: [{ text: string }] } };
  return { ...result.structuredContent, text: result.content[0].text };
}

const matchOf = async ({ port }: TestLeague) => {
  const { value } = await callTool(port, "get_schedule", { league_id: "ttt" });
  return (value.schedule as readonly Record<string, unknown>[])[0] ?? {};
};

it("a game of people continues after its referee was silent for longer than it refuses connections", async () => {
  const { test, manager, move } = await startGame();
  const { referee_id } = await matchOf(test);
  const referee = pidOf(test.folder, "referee/main.ts", String(test.port + (referee_id === "REF01" ? 1 : 2)));
  kill(referee, "SIGSTOP");
  await manager.line(
    new RegExp(`referee ${referee_id} does not answer; its matches are assigned to other referees if`),
  );
  kill(referee, "SIGCONT");
  await manager.line(new RegExp(`referee ${referee_id} answers again`));
  const board = await move();
  expect(board).toContain("3  x o .");
  const match = await matchOf(test);
  expect(match).toMatchObject({ referee_id, status: "assigned" });
  expect(match).not.toHaveProperty("restart");
});

it("a game of people that begins again at another referee says so, and why, to every reader", async () => {
  const { test, people, turnOf, move } = await startGame();
  const { referee_id } = await matchOf(test);
  const [lost, other] = referee_id === "REF01" ? [1, 2] : [2, 1];
  kill(pidOf(test.folder, "referee/main.ts", String(test.port + lost)), "SIGKILL");
  const restart = { attempt: 2, reason: `${referee_id} did not answer` };
  const text = `Attempt 2: the match began again from the start, because ${restart.reason}.`;
  await eventually("the turn of the new attempt", async () => {
    const turns = await Promise.all(people.map(turnOf));
    return JSON.stringify(turns).includes(JSON.stringify(restart));
  });
  expect(await matchOf(test)).toMatchObject({ referee_id: `REF0${other}`, restart });
  const said = await Promise.all(
    people.map((player_token) => play(test, "wait_for_turn", { player_token, timeout_s: 0 })),
  );
  expect(said.map((answer) => answer.text).join("\n")).toContain(text);

  const read = async (path: string, port = test.port) => (await fetch(`http://127.0.0.1:${port}${path}`)).json();
  expect(await read("/api/leagues/ttt/matches/R1M1")).toMatchObject({ match: { restart } });
  expect(await read("/api/leagues/ttt/schedule")).toMatchObject({ matches: [{ restart }] });
  expect(await read("/api/leagues/ttt")).toMatchObject({ playing: [{ restart }] });
  const { games } = (await read("/api/games", test.port + other)) as { games: readonly { readonly game_id: string }[] };
  expect(await read(`/api/games/${games[0]?.game_id}`, test.port + other)).toMatchObject({ restart });
  const { value: state } = await callTool(test.port + other, "get_game_state", { match_id: "ttt/R1M1" });
  expect(state).toMatchObject({ restart });
  expect(await move()).toContain("3  . . .");
});
