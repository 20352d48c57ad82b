import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { loadConfig } from "./config-file.ts";

const folder = mkdtempSync(join(tmpdir(), "config-file-"));
afterAll(() => rmSync(folder, { recursive: true }));
const file = join(folder, "league.json");

/** Returns the faults of a config of these lines, without the file name. */
function faultsOf(lines: readonly string[], environment: NodeJS.ProcessEnv = {}): readonly string[] {
  writeFileSync(file, lines.join("\n"));
  const loaded = loadConfig(file, environment);
  return loaded.ok ? [] : loaded.error.map((line) => line.replace(`${file}:`, ""));
}
const LEAGUES = '"leagues": [{ "league_id": "rps", "game": "rps.v1" }]';

test("a valid config has no faults", () => {
  expect(faultsOf(["{", LEAGUES, "}"])).toEqual([]);
});

test.each<[string, string]>([
  ['"manager": { "port": "x" }', "2:14 manager.port: must be a number, not text"],
  ['"referees": { "count": 0 }', "2:15 referees.count: must be at least 1"],
  ['"referees": { "firstPrt": 3 }', '2:15 referees.firstPrt: unknown field "firstPrt". Did you mean "firstPort"?'],
  ['"data": 3', "2:1 data: must be text, not 3"],
])("the field %s is reported as %j", (field, expected) => {
  expect(faultsOf(["{", `${field},`, LEAGUES, "}"])).toEqual([expected]);
});

test.each<[string, string]>([
  ['"game": "rsp.v1"', '2:35 leagues[0].game: unknown game "rsp.v1". Did you mean "rps.v1"?'],
  ['"game": "chess"', '2:35 leagues[0].game: unknown game "chess". Did you mean "chess.v1"?'],
  ['"game": "rps.v1", "options": { "best_of": 0 }', "2:66 leagues[0].options.best_of: must be at least 1"],
  [
    '"game": "rps.v1", "options": { "bestof": 3 }',
    '2:66 leagues[0].options.bestof: unknown option "bestof". Did you mean "best_of"?',
  ],
  [
    '"game": "rps.v1", "options": { "x": 3 }',
    '2:66 leagues[0].options.x: unknown option "x". Options of this game: best_of.',
  ],
])("a league with %s is reported as %j", (fields, expected) => {
  expect(faultsOf(["{", `"leagues": [{ "league_id": "rps", ${fields} }]`, "}"])).toEqual([expected]);
});

const FORMS =
  'a player is {"name", "bot"}, {"name", "uci": {"command"}}, {"name", "command", "protocol": "lines"}, {"name", "endpoint"} or {"name", "self": true}';
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
])("a player {%s} is reported in one line: %j", (player, expected) => {
  expect(faultsOf(["{", `"players": [{ ${player} }],`, LEAGUES, "}"])).toEqual([expected]);
});

test("a fault in a value from the environment names the variable", () => {
  const environment = { LEAGUE__MANAGER__PORT: "x" };
  expect(faultsOf(["{", LEAGUES, "}"], environment)).toEqual([
    "environment LEAGUE__MANAGER__PORT manager.port: must be a number, not text",
  ]);
});

test.each<[string, string]>([
  ["lists", "[".repeat(200_000)],
  ["lists that are closed", "[".repeat(200_000) + "]".repeat(200_000)],
  ["objects", '{"a":'.repeat(200_000)],
])("%s that are nested too deeply are reported in one line", (_, text) => {
  expect(faultsOf([text])).toEqual([" nested too deeply"]);
});

test("a folder instead of a config file is reported in plain text", () => {
  const loaded = loadConfig(folder, {});
  expect(loaded).toEqual({ ok: false, error: [`${folder}: cannot be read: it is a folder`] });
});

test.each<[string, readonly string[]]>([
  ['{ "leagues": }', ["1:14 a value is missing"]],
  ['{ "leagues": [', ['1:15 a "]" is missing', '1:15 a "}" is missing']],
  ['{ "data" 3 }', ['1:10 a ":" is missing']],
  ["{ data: 3 }", []],
  ['{ "data": "x }', []],
])("a syntax error in %s is reported in plain text", (text, expected) => {
  const faults = faultsOf([text]);
  expect(faults.length).toBeGreaterThan(0);
  for (const line of expected) expect(faults).toContain(line);
  for (const line of faults) expect(line).toMatch(/^\d+:\d+ \S+( \S+)+$/);
});
