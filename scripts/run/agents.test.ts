import { expect, it } from "vitest";
import { Config } from "#shared/runtime/config/config.ts";
import type { AgentSpec } from "#shared/runtime/process/supervisor.ts";
import { faultOfRun, playerSpecs, startAgents, withAbsolutePaths } from "./agents.ts";

const ALPHA = { name: "Alpha", bot: "random" };
const GUEST = { name: "Guest", self: true };
const FISH = { name: "Fish", uci: { command: "fish" } };
const CHESS = { league_id: "chess", game: "chess.v1" };
const RPS = { league_id: "rps", game: "rps.v1" };

it.each([
  ["waits for more players than the config lists", [ALPHA, GUEST], { ...RPS, min_players: 3 }, "min_players"],
  ["waits for more players than can play its game", [ALPHA, FISH], { ...RPS, min_players: 2 }, "min_players"],
  [
    "has room for fewer players than the config lists",
    [ALPHA, GUEST, FISH],
    { ...CHESS, max_players: 2 },
    "max_players",
  ],
])("faultOfRun rejects a league that %s", (_name, players, league, key) => {
  const fault = faultOfRun(Config.parse({ players, leagues: [CHESS, { ...league, league_id: "odd" }] }), "/config");
  expect(fault).toMatchObject({ path: ["leagues", 1, key], message: expect.stringMatching(/^league odd has \d/) });
});

it.each([
  ["equal to the number of players", [ALPHA, GUEST], { ...RPS, min_players: 2, max_players: 2 }],
  ["with a lower minimum and a higher maximum", [ALPHA, GUEST, FISH], { ...CHESS, min_players: 2, max_players: 9 }],
  ["with room for the players of its game only", [ALPHA, GUEST, FISH], { ...RPS, max_players: 2 }],
])("faultOfRun accepts limits of a league %s", (_name, players, league) => {
  expect(faultOfRun(Config.parse({ players, leagues: [league] }), "/config")).toBeNull();
});

it("withAbsolutePaths runs an engine in the folder of the config", () => {
  const engines = { command: ["./fish"], depth: 5, options: { Hash: 16, Ponder: false } };
  const { players } = withAbsolutePaths(
    Config.parse({ players: [{ name: "Fish", uci: engines }], leagues: [CHESS] }),
    "/config",
  );
  expect(players).toEqual([{ name: "Fish", uci: { ...engines, folder: "/config" } }]);
});

it("the process of a program that plays by lines gets its settings", () => {
  const settings = { start_ms: 60_000, matches: "one" };
  const program = { command: ["python3", "bot.py"], protocol: "lines", folder: "/bots", ...settings };
  const config = Config.parse({ players: [{ name: "Py", ...program }, ALPHA], leagues: [RPS] });
  const place = { host: "127.0.0.1", managerUrl: "http://127.0.0.1:8000/mcp", dataFolder: "data" };
  const [spec] = playerSpecs(config, place, () => ({ args: [], isDebugged: false }));
  expect(spec?.args).toContain(
    'lines:{"command":["python3","bot.py"],"folder":"/bots","startMs":60000,"matches":"one"}',
  );
});

it("no player gets the API key of another one, and players that share a process get none", () => {
  const llm = (name: string, api_key_env: string) => ({
    name,
    llm: { base_url: "http://127.0.0.1:1/v1", model: "m", api_key_env },
  });
  const players = [llm("Ann", "KEY_A"), ALPHA, { ...ALPHA, name: "Beta" }, llm("Bob", "KEY_B")];
  const config = Config.parse({ players, players_per_process: 2, leagues: [RPS] });
  const place = { host: "127.0.0.1", managerUrl: "http://127.0.0.1:8000/mcp", dataFolder: "data" };
  const specs = playerSpecs(config, place, () => ({ args: [], isDebugged: false }));
  expect(specs.map(({ name, withheld }) => [name, withheld])).toEqual([
    ["players Alpha to Beta", ["KEY_A", "KEY_B"]],
    ["Ann", ["KEY_B"]],
    ["Bob", ["KEY_A"]],
  ]);
});

it("players that are debugged or have options of their own do not share a process", () => {
  const players = ["A", "B", "C", "D"].map((name) => ({ ...ALPHA, name }));
  const config = Config.parse({ players, players_per_process: 4, leagues: [RPS] });
  const place = { host: "127.0.0.1", managerUrl: "http://127.0.0.1:8000/mcp", dataFolder: "data" };
  const own = { A: { args: ["--verbose"], isDebugged: false }, B: { args: [], isDebugged: true } };
  const specs = playerSpecs(config, place, (name) => own[name as "A" | "B"] ?? { args: [], isDebugged: false });
  expect(specs.map(({ name, script }) => [name, script])).toEqual([
    ["players C to D", "player/several.ts"],
    ["A", "player/main.ts"],
    ["B", "player/main.ts"],
  ]);
});

it("the referees and players of a run answer the pages of allowed_origins", () => {
  const origins = ["https://app.example", "http://127.0.0.1:3000"];
  const players = [ALPHA, { ...ALPHA, name: "Beta" }, { ...ALPHA, name: "Gamma" }];
  const config = Config.parse({ players, players_per_process: 2, leagues: [RPS], allowed_origins: origins });
  const specs: AgentSpec[] = [];
  const start = async (spec: AgentSpec): Promise<string> => {
    specs.push(spec);
    return "";
  };
  const location = { dataFolder: "data", configFile: "config.json", managerUrl: "http://127.0.0.1:8000/mcp" };
  startAgents({ start, stop: async () => {}, pids: () => new Map() }, config, location, []);
  const [manager, ...others] = specs.map(({ script, args }) => [script, args.join(" ")]);
  expect(manager?.[0]).toBe("league-manager/main.ts");
  expect(others.map(([script]) => script)).toContain("player/several.ts");
  for (const [script, args] of others)
    expect(args, script).toMatch(
      /--allowed-origin https:\/\/app\.example --allowed-origin|"allowedOrigins":\["https:\/\/app/,
    );
});
