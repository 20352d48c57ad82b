import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { loadConfig } from "./config-file.ts";

const folder = mkdtempSync(join(tmpdir(), "config-file-"));
afterAll(() => rmSync(folder, { recursive: true }));
const file = join(folder, "league.json");

/** Returns the faults of a config of these lines, without the file name. */
async function faultsOf(lines: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<readonly string[]> {
  writeFileSync(file, lines.join("\n"));
  const loaded = await loadConfig(file, environment);
  return loaded.ok ? [] : loaded.error.map((line) => line.replace(`${file}:`, ""));
}
const LEAGUES = '"leagues": [{ "league_id": "rps", "game": "rps.v1" }]';

test("a valid config has no faults", async () => {
  expect(await faultsOf(["{", LEAGUES, "}"])).toEqual([]);
});

test.each([
  "null",
  "*",
  "https://app.example/",
  "https://app.example:443",
  "file://",
  "ws://app.example",
  "app.example",
])("%j in allowed_origins is rejected", async (origin) => {
  const fault = "2:21 allowed_origins[0]: must be an origin without a path, e.g. https://app.example";
  expect(await faultsOf(["{", `"allowed_origins": ["${origin}"],`, LEAGUES, "}"])).toEqual([fault]);
  expect(await faultsOf(["{", `"allowed_origins": ["https://app.example:8443"],`, LEAGUES, "}"])).toEqual([]);
});

test("a config may begin with a byte order mark, which does not move the positions of its faults", async () => {
  expect(await faultsOf(["\uFEFF{", LEAGUES, "}"])).toEqual([]);
  expect(await faultsOf(['\uFEFF{ "data": 3,', LEAGUES, "}"])).toEqual(["1:3 data: must be text, not 3"]);
});

test.each<[string, string]>([
  ['"manager": { "port": "x" }', "2:14 manager.port: must be a number, not text"],
  ['"referees": { "count": -1 }', "2:15 referees.count: must be at least 0"],
  ['"referees": { "firstPrt": 3 }', '2:15 referees.firstPrt: unknown field "firstPrt". Did you mean "firstPort"?'],
  ['"data": 3', "2:1 data: must be text, not 3"],
])("the field %s is reported as %j", async (field, expected) => {
  expect(await faultsOf(["{", `${field},`, LEAGUES, "}"])).toEqual([expected]);
});

test.each<[string, string]>([
  ['"game": "rsp.v1"', '2:35 leagues[0].game: unknown game "rsp.v1". Did you mean "rps.v1"?'],
  ['"game": "chess"', '2:35 leagues[0].game: unknown game "chess". Did you mean "chess.v1"?'],
  ['"game": "rps.v1", "format": "swis"', '2:53 leagues[0].format: unknown format "swis". Did you mean "swiss"?'],
  [
    '"game": "rps.v1", "format": "swiss", "format_options": { "round": 3 }',
    '2:92 leagues[0].format_options.round: unknown option "round". Did you mean "rounds"?',
  ],
  [
    '"game": "rps.v1", "format": "swiss", "format_options": { "rounds": 0 }',
    "2:92 leagues[0].format_options.rounds: must be at least 1",
  ],
  [
    '"game": "rps.v1", "tie_breaks": ["buchholtz"]',
    '2:68 leagues[0].tie_breaks[0]: unknown tie-break "buchholtz". Did you mean "buchholz"?',
  ],
  ['"game": "rps.v1", "options": { "best_of": 0 }', "2:66 leagues[0].options.best_of: must be at least 1"],
  [
    '"game": "rps.v1", "options": { "bestof": 3 }',
    '2:66 leagues[0].options.bestof: unknown option "bestof". Did you mean "best_of"?',
  ],
  [
    '"game": "rps.v1", "options": { "x": 3 }',
    '2:66 leagues[0].options.x: unknown option "x". Options of this game: best_of.',
  ],
  [
    '"game": "chess.v1", "openings": [{ "moves": "e2e4" }, { "fen": "8/8" }]',
    expect.stringMatching(/^2:89 leagues\[0\]\.openings\[1\]: is not an opening of chess\.v1: /),
  ],
])("a league with %s is reported as %j", async (fields, expected) => {
  expect(await faultsOf(["{", `"leagues": [{ "league_id": "rps", ${fields} }]`, "}"])).toEqual([expected]);
});

describe("the file of a game", () => {
  const starter = readFileSync(new URL("../../../scripts/starters/game/game.ts", import.meta.url), "utf8");
  const leagues = (game: string): readonly string[] => [
    "{",
    `"leagues": [{ "league_id": "own", "game": ${JSON.stringify(game)}, "options": { "heap": 9 } }]`,
    "}",
  ];

  test("is found relative to the config and replaced by the id of its game", async () => {
    writeFileSync(join(folder, "own-game.ts"), starter.replace("nim.v1", "config_nim.v1"));
    writeFileSync(file, leagues("./own-game.ts").join("\n"));
    const loaded = await loadConfig(file, {});
    expect(loaded).toMatchObject({
      ok: true,
      value: { config: { games: [join(folder, "own-game.ts")], leagues: [{ game: "config_nim.v1" }] } },
    });
    expect(await faultsOf(["{", '"games": ["own-game.ts"],', ...leagues("config_nim.v1").slice(1)])).toEqual([]);
    const unknown = '2:35 leagues[0].game: unknown game "config_nam.v1". Did you mean "config_nim.v1"?';
    expect(await faultsOf(leagues("config_nam.v1"))).toEqual([unknown]);
  });

  test("that does not load is reported at the league and in the file", async () => {
    const broken = join(folder, "broken.ts");
    expect(await faultsOf(leagues("./broken.ts"))).toEqual([`2:35 leagues[0].game: ${broken}: no such file`]);
    writeFileSync(broken, starter.replace("nim.v1", "chess.v1"));
    const clash = `${broken}:17: id "chess.v1" is the id of a built-in game; choose another`;
    expect(await faultsOf(leagues("./broken.ts"))).toEqual([`2:35 leagues[0].game: ${clash}`]);
    const listed = await faultsOf(["{", '"games": ["./broken.ts"],', ...leagues("rps.v1").slice(1)]);
    expect(listed[0]).toMatch(/^2:11 games\[0\]: .*broken\.ts/);
  });
});

const FORMS =
  'a player is {"name", "bot"}, {"name", "uci": {"command"}}, {"name", "command", "protocol": "lines"}, {"name", "llm": {"base_url", "model"}}, {"name", "endpoint"}, {"name", "self": true} or {"name", "human": true}';
test.each<[string, string]>([
  ['"name": "", "bot": "random"', "2:15 players[0].name: must not be empty"],
  ['"name": " ", "self": true', "2:15 players[0].name: must not be empty"],
  ['"name": "A", "bto": "random"', `2:13 players[0]: unknown field "bto". Did you mean "bot"?; ${FORMS}`],
  ['"nam": "A", "bot": "random"', '2:13 players[0]: name: is missing; unknown field "nam". Did you mean "name"?'],
  [
    '"name": "A", "uci": { "comand": "fish" }',
    '2:13 players[0]: uci.command: is missing; uci: unknown field "comand". Did you mean "command"?',
  ],
  ['"name": "A"', `2:13 players[0]: ${FORMS}`],
  ['"name": "A", "llm": { "base_url": "http://h/v1" }', "2:13 players[0]: llm.model: is missing"],
  [
    '"name": "A", "llm": { "base_url": "http://u:p@h/v1?key=k", "model": "m" }',
    "2:37 players[0].llm.base_url: must have no user, password, query or fragment; the API key is read from the environment",
  ],
  [
    '"name": "A", "llm": { "base_url": "http://h/v1", "model": "m", "budget": { "cost": 1 } }',
    "2:90 players[0].llm.budget.cost: needs price",
  ],
  [
    '"name": "A", "llm": { "base_url": "http://h/v1", "model": "m", "extra": { "stream": true } }',
    "2:78 players[0].llm.extra: must not contain model, messages, temperature, seed, stream, n, response_format, tools, tool_choice",
  ],
])("a player {%s} is reported in one line: %j", async (player, expected) => {
  expect(await faultsOf(["{", `"players": [{ ${player} }],`, LEAGUES, "}"])).toEqual([expected]);
});

test("a fault in a value from the environment names the variable", async () => {
  const environment = { LEAGUE__MANAGER__PORT: "x" };
  expect(await faultsOf(["{", LEAGUES, "}"], environment)).toEqual([
    "environment LEAGUE__MANAGER__PORT manager.port: must be a number, not text",
  ]);
});

test.each<[string, string]>([
  ["lists", "[".repeat(200_000)],
  ["lists that are closed", "[".repeat(200_000) + "]".repeat(200_000)],
  ["objects", '{"a":'.repeat(200_000)],
])("%s that are nested too deeply are reported in one line", async (_, text) => {
  expect(await faultsOf([text])).toEqual([" nested too deeply"]);
});

test("a folder instead of a config file is reported in plain text", async () => {
  const loaded = await loadConfig(folder, {});
  expect(loaded).toEqual({ ok: false, error: [`${folder}: cannot be read: it is a folder`] });
});

test.each<[string, readonly string[]]>([
  ['{ "leagues": }', ["1:14 a value is missing"]],
  ['{ "leagues": [', ['1:15 a "]" is missing', '1:15 a "}" is missing']],
  ['{ "data" 3 }', ['1:10 a ":" is missing']],
  ["{ data: 3 }", []],
  ['{ "data": "x }', []],
])("a syntax error in %s is reported in plain text", async (text, expected) => {
  const faults = await faultsOf([text]);
  expect(faults.length).toBeGreaterThan(0);
  for (const line of expected) expect(faults).toContain(line);
  for (const line of faults) expect(line).toMatch(/^\d+:\d+ \S+( \S+)+$/);
});
