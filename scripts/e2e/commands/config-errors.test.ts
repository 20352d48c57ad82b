import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { cleanUp, league, newFolder } from "../../testing/processes.ts";

describe("a config that is wrong ends the command with exit code 3", () => {
  afterEach(cleanUp);

  const GOOD = `{
  // a comment
  "data": "data",
  "players": [{ "name": "Alpha", "bot": "random" }, { "name": "Bravo", "bot": "cycle" }],
  "leagues": [
    { "league_id": "rps", "game": "rps.v1" }
  ]
}`;
  const wrong: readonly [what: string, from: string, to: string, at: string, field: string][] = [
    ["a syntax error", '"data": "data"', '"data" "data"', "3:10", ""],
    ["an end too early", "\n  ]\n}", "", "6:45", ""],
    ["an unknown field", '"data": "data"', '"dta": "data"', "3:3", "dta"],
    ["a wrong type", '"data": "data"', '"data": 5', "3:3", "data"],
    ["a wrong type deeper down", '"data": "data"', '"manager": { "port": "x" }', "3:16", "manager.port"],
    ["an unknown game", "rps.v1", "go.v1", "6:27", "leagues[0].game"],
    [
      "a league without room for a match",
      '"rps.v1"',
      '"codenames.v1", "max_players": 3',
      "6:51",
      "leagues[0].max_players",
    ],
    [
      "a wrong game option",
      '"rps.v1"',
      '"rps.v1", "options": { "best_of": "x" }',
      "6:58",
      "leagues[0].options.best_of",
    ],
    ["an unknown game option", '"rps.v1"', '"rps.v1", "options": { "bestof": 3 }', "6:58", "leagues[0].options.bestof"],
    ["too few players for a match", "rps.v1", "codenames.v1", "6:27", "leagues[0].game"],
    ["a player's name given twice", "Bravo", "Alpha", "4:55", "players[1].name"],
    ["a player without a bot", ', "bot": "cycle"', "", "4:53", "players[1]"],
    ["one player only", ', { "name": "Bravo", "bot": "cycle" }', "", "4:3", "players"],
    ["a port given twice", '"data": "data"', '"manager": { "port": 8101 }, "data": "data"', "3:16", "manager.port"],
  ];
  it.each(wrong)("%s is a config error with its place and field", async (_what, from, to, at, field) => {
    const file = join(newFolder(), "wrong.json");
    expect(GOOD).toContain(from);
    writeFileSync(file, GOOD.replace(from, to));
    const { code, stdout, stderr } = await league(["run", file, "--quiet"]);
    expect({ code, stdout }, stderr).toEqual({ code: 3, stdout: "" });
    expect(stderr).toContain(`${file}:${at} ${field && `${field}: `}`);
    const lines = stderr.trimEnd().split("\n");
    expect(lines.filter((line) => !line.startsWith(`${file}:`))).toEqual([]);
  });

  it("a config that is not there", async () => {
    const file = join(newFolder(), "none.json");
    const { code, stdout, stderr } = await league(["run", file, "--quiet"]);
    expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
    expect(stderr).toMatch(new RegExp(`^${file}: .*no such file`));
  });

  it.each([
    ["LEAGUE__MANAGER__PORT", "none"],
    ["LEAGUE__MANAGER__PROT", "9000"],
    ["LEAGUE__CONSTRUCTOR__PROTOTYPE__PORT", "1"],
    ["LEAGUE__MANAGER", '{"port":"none"}'],
    ["LEAGUE__PLAYERS__0__BOT", "5"],
    ["LEAGUE__LEAGUES__0__GAME", "go.v1"],
  ])("an override that is wrong is named by its variable: %s=%s", async (name, value) => {
    const file = join(newFolder(), "good.json");
    writeFileSync(file, GOOD);
    const { code, stdout, stderr } = await league(["run", file, "--quiet"], { [name]: value });
    expect({ code, stdout }, stderr).toEqual({ code: 3, stdout: "" });
    expect(stderr).toContain(`environment ${name} `);
  });
});
