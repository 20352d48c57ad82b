import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { freePort } from "#shared/runtime/process/free-ports.ts";
import { cleanUp, league, newFolder, root, start } from "../../testing/processes.ts";
import { testLeague } from "../../testing/test-league.ts";

afterEach(cleanUp);

const STARTER = readFileSync(join(root, "scripts/starters/game/game.ts"), "utf8");

/** Writes a game into a folder. */
function gameIn(folder: string): string {
  const file = join(folder, "nim.ts");
  writeFileSync(file, STARTER);
  return file;
}

/** Returns the messages of the TypeScript compiler about a file with the settings of this project. */
function compile(file: string): string {
  const config = join(dirname(file), "tsconfig.json");
  const typeRoots = [join(root, "node_modules/@types")];
  writeFileSync(
    config,
    JSON.stringify({ extends: join(root, "tsconfig.json"), compilerOptions: { typeRoots }, include: [file] }),
  );
  return spawnSync(join(root, "node_modules/.bin/tsc"), ["-p", config], { encoding: "utf8" }).stdout;
}

it("a league of a game of a file is played, exported and verified", async () => {
  const test = await testLeague(
    ["random", "greedy", "counter"],
    [{ league_id: "nim", game: "./nim.ts", options: { heap: 9 } }],
  );
  const file = gameIn(test.folder);
  const run = await league(["run", test.file, "--json", "--seed", "7"]);
  expect([run.code, JSON.parse(run.stdout).leagues[0]]).toMatchObject([0, { game: "nim.v1", status: "completed" }]);
  const out = join(test.folder, "export");
  expect((await league(["export", join(test.folder, "data"), "--out", out])).code).toBe(0);
  const unknown = await league(["verify", out]);
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining("Not a built-in game: nim.v1.")]);
  const verified = await league(["verify", out, "--game", file]);
  expect([verified.code, verified.stdout]).toEqual([0, expect.stringContaining("3 matches replayed")]);
  writeFileSync(file, STARTER.replace('"last_taken"', '"last_stick"'));
  expect((await league(["verify", out, "--game", file])).stderr).toContain("is the file of --game unchanged?");
}, 60_000);

it("players without the file join a served league of the game", async () => {
  const test = await testLeague([], [{ league_id: "nim", game: "./nim.ts" }]);
  gameIn(test.folder);
  const served = start("scripts/league.ts", ["serve", test.file, "--players", "2"]);
  await served.line(/takes registrations at /);
  const joined = ["Ann", "Bob"].map((name, index) => {
    const place = ["--port", String(test.port + 10 + index), "--data", join(test.folder, name)];
    const manager = ["--manager", `http://127.0.0.1:${test.port}/mcp`];
    return start("scripts/league.ts", ["join", "random", "--name", name, ...place, ...manager]);
  });
  await served.line(/^nim R1M1 \(\w+ first_player, \w+ second_player\): \w+ wins \(last taken\) \[1\/1\]$/);
  for (const running of [served, ...joined]) running.signal("SIGINT");
  await Promise.all([served.ended, ...joined.map(({ ended }) => ended)]);
}, 60_000);

it("a bot of new-bot for a game of a file has the types of the game, plays it and passes every check", async () => {
  const folder = newFolder();
  const file = gameIn(folder);
  const bot = join(folder, "my-bot", "bot.ts");
  const written = await league(["new-bot", join(folder, "my-bot"), "--game", file]);
  expect([written.code, written.stderr]).toEqual([0, ""]);
  expect(readFileSync(join(folder, "my-bot", "README.md"), "utf8")).toContain(`play ${bot} random --game ${file}`);
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(root, join(folder, "node_modules", "agent-league"));
  expect(compile(bot)).toBe("");
  const text = readFileSync(bot, "utf8");
  writeFileSync(bot, text.replace("random.pick(legal)", '"two"'));
  expect(compile(bot)).toContain("Type 'string' is not assignable to type 'number | Promise<number>'");
  writeFileSync(bot, text);
  const played = await league(["play", bot, "random", "--game", file, "--json"]);
  expect(JSON.parse(played.stdout)).toMatchObject({ termination: "normal", faults: [] });
  const checked = await league(["check", bot, "--game", file, "--json"]);
  const { passed, checks } = JSON.parse(checked.stdout);
  expect([passed, checks.filter(({ outcome }: { outcome: string }) => outcome !== "pass")]).toEqual([true, []]);
}, 60_000);

it("a session host shows the game of a file over REST, MCP tools and pages", async () => {
  const folder = newFolder();
  const port = await freePort();
  const args = ["--alone", "--port", String(port), "--data", folder, "--game", gameIn(folder)];
  const host = start("referee/main.ts", args);
  await host.line(/session host at /);
  const call = async (
    method: string,
    path: string,
    body?: object,
    token?: string,
  ): Promise<{ status: number; json: Record<string, unknown>; text: string }> => {
    const headers = { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) };
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, text, json: text.startsWith("{") ? JSON.parse(text) : {} };
  };
  const tool = async (name: string, args: object): Promise<Record<string, unknown>> => {
    const params = { name, arguments: args };
    const { json } = await call("POST", "/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params });
    return (json.result as { structuredContent: Record<string, unknown> }).structuredContent;
  };
  expect((await call("GET", "/openapi.json")).text).toContain("codenames.v1, nim.v1");
  const page = (await call("GET", "/")).text;
  expect(page).toContain('"nim.v1":{"name":"Nim"}');

  const [first, second] = [await call("POST", "/agents", {}), await call("POST", "/agents", {})];
  const [token, other] = [String(first.json.token), String(second.json.token)];
  const participants = { first_player: first.json.agent_id, second_player: second.json.agent_id };
  const created = await call("POST", "/sessions", { template: "nim.v1", participants, options: { heap: 3 } }, token);
  expect(created).toMatchObject({ status: 201, json: { template: "nim.v1" } });
  const actions = `/sessions/${created.json.session_id}/actions`;
  expect(await call("POST", actions, { action: 3, expected_tick: 0 }, token)).toMatchObject({ status: 400 });
  expect((await call("POST", actions, { action: 2, expected_tick: 0 }, token)).status).toBe(200);
  expect((await call("POST", actions, { action: 1, expected_tick: 1 }, other)).status).toBe(200);

  const game = await tool("createGame", { template: "Nim", opponent: "random", options: { heap: 1 } });
  expect(game).toMatchObject({
    template: "nim.v1",
    legal_actions: [1],
    board: "1 sticks left, first_player to move.",
  });
  const { game_id, seat_token } = game;
  const finished = await tool("finishTurn", { game_id, seat_token, move: 1 });
  expect(finished).toMatchObject({ next: "game_over", result: { winner: "first_player", reason: "last_taken" } });
  const played = await tool("createGame", {
    template: "nim",
    opponent: "random",
    play_as: "second_player",
    options: { heap: 2 },
  });
  const waited = await tool("waitForNextTurn", {
    game_id: played.game_id,
    seat_token: played.seat_token,
    timeout_s: 30,
  });
  const { reason = "none yet" } = (waited.result ?? {}) as { reason?: string };
  expect([waited.next, reason]).toEqual(reason === "none yet" ? ["your_turn", reason] : ["game_over", "last_taken"]);
  host.signal("SIGINT");
  await host.ended;
}, 60_000);
