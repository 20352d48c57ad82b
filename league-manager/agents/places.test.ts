import { expect, it } from "vitest";
import { sha256Hex } from "#shared/lib/hash.ts";
import { Config } from "#shared/runtime/config/config.ts";
import { keptForOwn, newIdFor, placesOf } from "./places.ts";

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

it("each listed player and referee has a place, and a run knows its own agents by their tokens", () => {
  expect(PLACES).toMatchObject([
    {
      id: "P01",
      name: "Ann",
      endpoint: null,
      own: { endpoint: `${LOCAL}9101/mcp`, tokenHash: sha256Hex("player-Ann") },
    },
    { id: "P02", name: "Guest", endpoint: null, own: null },
    { id: "P03", name: "Listed", endpoint: `${LOCAL}9300/mcp`, own: null },
    { id: "REF01", name: null, endpoint: `${LOCAL}9001/mcp`, own: { tokenHash: sha256Hex("referee-9001") } },
    { id: "REF02", name: null, endpoint: `${LOCAL}9002/mcp`, own: { tokenHash: sha256Hex("referee-9002") } },
  ]);
  expect(placesOf(CONFIG, null).map(({ own }) => own)).toEqual([null, null, null, null, null]);
});

it.each([
  ["the place of its name", claim("player", "Guest", 9999), true, "P02"],
  ["the place of its name and endpoint", claim("player", "Listed", 9300), true, "P03"],
  ["no place when only the name is right", claim("player", "Listed", 9999), true, "P04"],
  ["the place of its endpoint", claim("referee", "R", 9002), true, "REF02"],
  ["the first id that is not kept", claim("player", "New", 9999), true, "P04"],
  ["the first id, when places are not kept from others", claim("player", "New", 9999), false, "P01"],
])("a new agent gets %s", (_, who, areKept, id) => {
  expect(newIdFor(who, PLACES, areKept, new Set(), 0)).toBe(id);
});

it("a new agent gets no id that is in use, and none that was forgotten except its own place", () => {
  expect(newIdFor(claim("player", "New", 9999), PLACES, true, new Set(["P04"]), 5)).toBe("P06");
  expect(newIdFor(claim("player", "Guest", 9999), PLACES, true, new Set(), 5)).toBe("P02");
  expect(newIdFor(claim("player", "Guest", 9999), PLACES, true, new Set(["P02"]), 0)).toBe("P04");
});

it("name and endpoint of an agent of the run are for its token alone", () => {
  const ask = (name: string, port: number, token: string) =>
    keptForOwn(PLACES, {
      ...claim("player", name, port),
      endpoint: `${LOCAL}${port}/mcp`,
      tokenHash: sha256Hex(token),
    });
  expect(ask("Ann", 9999, "x")).toMatchObject({ message: "the name Ann is kept for an agent of this run" });
  expect(ask("X", 9101, "x")).toMatchObject({
    error_code: "L003",
    message: `the endpoint ${LOCAL}9101/mcp is kept for an agent of this run`,
  });
  expect([ask("Ann", 9101, "player-Ann"), ask("Guest", 9300, "x")]).toEqual([null, null]);
});
