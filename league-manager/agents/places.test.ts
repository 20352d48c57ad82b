import { expect, it } from "vitest";
import { sha256Hex } from "#shared/lib/hash.ts";
import { Config } from "#shared/runtime/config/config.ts";
import { newIdFor, placesOf, reservationConflict } from "./places.ts";

const CONFIG = Config.parse({
  leagues: [{ league_id: "rps", game: "rps.v1" }],
  playersFirstPort: 9101,
  players: [
    { name: "Ann", bot: "random" },
    { name: "Guest", self: true },
    { name: "Listed", endpoint: "http://127.0.0.1:9300/mcp" },
  ],
  referees: { count: 2, firstPort: 9001 },
});
const LOCAL = "http://127.0.0.1:";
const PLACES = placesOf(CONFIG, (kind, name) => sha256Hex(`${kind}-${name}`));
const claim = (kind: "player" | "referee", name: string, port: number) => ({
  kind,
  name,
  key: `loopback:${port}/mcp`,
  machineAddresses: new Set<string>(),
});

it("each listed player and referee has a place, and the places of agents that the run starts require their tokens", () => {
  expect(PLACES).toMatchObject([
    {
      id: "P01",
      name: "Ann",
      endpoint: null,
      startedByRun: { endpoint: `${LOCAL}9101/mcp`, tokenHash: sha256Hex("player-Ann") },
    },
    { id: "P02", name: "Guest", endpoint: null, startedByRun: null },
    { id: "P03", name: "Listed", endpoint: `${LOCAL}9300/mcp`, startedByRun: null },
    { id: "REF01", name: null, endpoint: `${LOCAL}9001/mcp`, startedByRun: { tokenHash: sha256Hex("referee-9001") } },
    { id: "REF02", name: null, endpoint: `${LOCAL}9002/mcp`, startedByRun: { tokenHash: sha256Hex("referee-9002") } },
  ]);
  expect(placesOf(CONFIG, null).map(({ startedByRun }) => startedByRun)).toEqual([null, null, null, null, null]);
});

it.each([
  ["the place of its name", claim("player", "Guest", 9999), true, "P02"],
  ["the place of its name and endpoint", claim("player", "Listed", 9300), true, "P03"],
  ["no place when only the name matches", claim("player", "Listed", 9999), true, "P04"],
  ["the place of its endpoint", claim("referee", "R", 9002), true, "REF02"],
  ["the first id that is not reserved", claim("player", "New", 9999), true, "P04"],
  ["the first id when places are not reserved", claim("player", "New", 9999), false, "P01"],
])("a new agent gets %s", (_, claimed, arePlacesReserved, id) => {
  expect(newIdFor(claimed, PLACES, arePlacesReserved, new Set(), 0)).toBe(id);
});

it("a new agent gets neither an id in use nor the id of a forgotten agent, except the id of its place", () => {
  expect(newIdFor(claim("player", "New", 9999), PLACES, true, new Set(["P04"]), 5)).toBe("P06");
  expect(newIdFor(claim("player", "Guest", 9999), PLACES, true, new Set(), 5)).toBe("P02");
  expect(newIdFor(claim("player", "Guest", 9999), PLACES, true, new Set(["P02"]), 0)).toBe("P04");
});

it("the name and endpoint of an agent that the run starts require its token", () => {
  const conflictOf = (name: string, port: number, token: string) =>
    reservationConflict(PLACES, {
      ...claim("player", name, port),
      endpoint: `${LOCAL}${port}/mcp`,
      tokenHash: sha256Hex(token),
    });
  expect(conflictOf("Ann", 9999, "x")).toMatchObject({ message: "the name Ann is reserved for an agent of this run" });
  expect(conflictOf("X", 9101, "x")).toMatchObject({
    error_code: "L003",
    message: `the endpoint ${LOCAL}9101/mcp is reserved for an agent of this run`,
  });
  expect([conflictOf("Ann", 9101, "player-Ann"), conflictOf("Guest", 9300, "x")]).toEqual([null, null]);
});

it.each([
  ["a program", { command: ["python3", "bot.py"], protocol: "lines" }],
  ["an engine", { uci: { command: "stockfish" } }],
  ["a language model", { llm: { base_url: "http://127.0.0.1:11434/v1", model: "m" } }],
])("no other program may take the place of %s that the run starts", (_, form) => {
  const config = Config.parse({ ...CONFIG, players: [{ name: "Ann", ...form }] });
  const places = placesOf(config, () => sha256Hex("token"));
  const conflictOf = (token: string) =>
    reservationConflict(places, { ...claim("player", "Ann", 9999), endpoint: null, tokenHash: sha256Hex(token) });
  expect(conflictOf("x")).toMatchObject({ error_code: "L003" });
  expect(conflictOf("token")).toBeNull();
});
