import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { cleanUp, league, newFolder } from "../../testing/processes.ts";

describe("league run with an invalid config", () => {
  afterEach(cleanUp);

  const GOOD = `{
  // a comment
  "data": "data",
  "players": [{ "name": "Alpha", "bot": "random" }, { "name": "Bravo", "bot": "cycle" }],
  "leagues": [
    { "league_id": "rps", "game": "rps.v1" }
  ]
}`;
  const invalidConfigs: readonly [fault: string, from: string, to: string, position: string, field: string][] = [
    ["a syntax error", '"data": "data"', '"data" "data"', "3:10", ""],
    ["a truncated file", "\n  ]\n}", "", "6:45", ""],
    ["an unknown field", '"data": "data"', '"dta": "data"', "3:3", "dta"],
    ["a wrong type", '"data": "data"', '"data": 5', "3:3", "data"],
    ["a wrong type in a nested field", '"data": "data"', '"manager": { "port": "x" }', "3:16", "manager.port"],
    ["an unknown game", "rps.v1", "go.v1", "6:27", "leagues[0].game"],
    [
      "fewer places in a league than roles in its game",
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
    ["a single player", ', { "name": "Bravo", "bot": "cycle" }', "", "4:3", "players"],
    ["a port given twice", '"data": "data"', '"manager": { "port": 8101 }, "data": "data"', "3:16", "manager.port"],
  ];
  it.each(invalidConfigs)(
    "ends with exit code 3 and names the position and the field of %s",
    async (_fault, from, to, position, field) => {
      const file = join(newFolder(), "wrong.json");
      expect(GOOD).toContain(from);
      writeFileSync(file, GOOD.replace(from, to));
      const { code, stdout, stderr } = await league(["run", file, "--quiet"]);
      expect({ code, stdout }, stderr).toEqual({ code: 3, stdout: "" });
      expect(stderr).toContain(`${file}:${position} ${field && `${field}: `}`);
      const lines = stderr.trimEnd().split("\n");
      expect(lines.filter((line) => !line.startsWith(`${file}:`))).toEqual([]);
    },
  );

  it("ends with exit code 3 and names a config file that does not exist", async () => {
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
  ])("ends with exit code 3 and names an invalid environment variable: %s=%s", async (name, value) => {
    const file = join(newFolder(), "good.json");
    writeFileSync(file, GOOD);
    const { code, stdout, stderr } = await league(["run", file, "--quiet"], { [name]: value });
    expect({ code, stdout }, stderr).toEqual({ code: 3, stdout: "" });
    expect(stderr).toContain(`environment ${name} `);
  });
});
