import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { createGame, twoSeats } from "../../../referee/play/testing/play.ts";
import { gameIn, STARTER_GAME, startGameHost } from "../../testing/game-host.ts";
import { cleanUp, league, newFolder, root, start } from "../../testing/processes.ts";
import { testLeague } from "../../testing/test-league.ts";

afterEach(cleanUp);

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
  expect([unknown.code, unknown.stdout, unknown.stderr]).toEqual([
    1,
    "",
    expect.stringMatching(
      /^cannot be checked without --game FILE, the file of nim\.v1: .*\nNo fault was found in .*\n$/,
    ),
  ]);
  const document = JSON.parse((await league(["verify", out, "--json"])).stdout);
  expect(document).toMatchObject({
    ok: false,
    verdict: "cannot be checked",
    unknown_games: ["nim.v1"],
    faults: [],
    matches: 0,
  });
  const result = join(out, "matches", "nim", "R1M1.json");
  const sound = readFileSync(result, "utf8");
  writeFileSync(result, sound.replace('"epoch": 1', '"epoch": 2'));
  const changed = await league(["verify", out]);
  expect([changed.code, changed.stderr]).toEqual([
    1,
    expect.stringMatching(/\nnot sound: .*\nNot a built-in game: nim\.v1\./),
  ]);
  writeFileSync(result, sound);
  const verified = await league(["verify", out, "--game", file]);
  expect([verified.code, verified.stdout]).toEqual([0, expect.stringContaining("3 matches replayed")]);
  writeFileSync(file, STARTER_GAME.replace('"last_taken"', '"last_stick"'));
  expect((await league(["verify", out, "--game", file])).stderr).toContain("is the file of --game unchanged?");
});

it("players without the file join a served league of the game", async () => {
  const test = await testLeague([], [{ league_id: "nim", game: "./nim.ts" }]);
  gameIn(test.folder);
  const served = start("scripts/league.ts", ["serve", test.file, "--players", "2"]);
  await served.line(/takes registrations at /);
  const joined = ["Ann", "Bob"].map((name, index) => {
    const place = ["--port", String(test.portAt(10 + index)), "--data", join(test.folder, name)];
    const manager = ["--manager", `http://127.0.0.1:${test.port}/mcp`];
    return start("scripts/league.ts", ["join", "random", "--name", name, ...place, ...manager]);
  });
  await served.line(/^nim R1M1 \(\w+ first_player, \w+ second_player\): \w+ wins \(last taken\) \[1\/1\]$/);
  for (const running of [served, ...joined]) running.signal("SIGINT");
  await Promise.all([served.ended, ...joined.map(({ ended }) => ended)]);
});

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
});

const THROWING: readonly [string, string] = ["    return ok({", '    throw new Error("no luck");\n    return ok({'];

it("a session host and a league run show the line of a game of a file that throws, once", async () => {
  const test = await testLeague(["random", "random"], [{ league_id: "nim", game: "./nim.ts" }]);
  const file = gameIn(test.folder);
  writeFileSync(file, STARTER_GAME.replace(...THROWING));
  const line = new RegExp(`${file}:35:\\d+: Error: no luck$`, "gm");
  const run = await league(["run", test.file, "--seed", "7"]);
  expect([run.code, run.stderr.match(line)?.length]).toEqual([0, 1]);
  expect(run.stderr).toContain("nim R1M1 (Player1 first_player, Player2 second_player): aborted");

  const host = await startGameHost([]);
  const running = await host.restart([file]);
  const [one] = await twoSeats(host, "nim");
  for (const _ of [1, 2]) expect((await one.move(1)).text).toContain("Internal error");
  expect(
    (await host.call("POST", `/api/games/${one.gameId}/moves`, { token: one.token, body: { move: 1 } })).status,
  ).toBe(500);
  await host.stop();
  expect(running.stderr().match(line)).toHaveLength(1);
});

it("a session host shows the game of a file over REST, MCP tools and pages", async () => {
  const host = await startGameHost([gameIn(newFolder())]);
  const { call } = host;
  expect((await call("GET", "/openapi.json")).text).toContain("codenames.v1, nim.v1");
  expect((await call("GET", "/")).text).toContain('"nim.v1":{"name":"Nim","howToPlay":');

  const [first, second] = [(await call("POST", "/agents")).json, (await call("POST", "/agents")).json];
  const participants = { first_player: first.agent_id, second_player: second.agent_id };
  const body = { template: "nim.v1", participants, options: { heap: 3 } };
  const created = await call("POST", "/sessions", { token: first.token, body });
  expect(created).toMatchObject({ status: 201, json: { template: "nim.v1" } });
  const act = async (action: number, expected_tick: number, { token }: { token: string }): Promise<number> =>
    (await call("POST", `/sessions/${created.json.session_id}/actions`, { token, body: { action, expected_tick } }))
      .status;
  expect([await act(3, 0, first), await act(2, 0, first), await act(1, 1, second)]).toEqual([400, 200, 200]);

  const game = await createGame(host, { template: "Nim", opponent: "random", options: { heap: 1 } });
  expect(game.answer.value).toMatchObject({
    template: "nim.v1",
    legal_actions: [1],
    board: "1 sticks left, first_player to move.",
  });
  const finished = await game.move(1);
  expect(finished.value).toMatchObject({ next: "game_over", result: { winner: "first_player", reason: "last_taken" } });
  const second_player = { template: "nim", opponent: "random", play_as: "second_player", options: { heap: 2 } };
  const { value } = await (await createGame(host, second_player)).wait({ timeout_s: 30 });
  const { reason = "none yet" } = value.result ?? {};
  expect([value.next, reason]).toEqual(reason === "none yet" ? ["your_turn", reason] : ["game_over", "last_taken"]);
  await host.stop();
});
