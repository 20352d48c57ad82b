import { InvalidArgumentError } from "commander";
import { expect, it } from "vitest";
import { botOption, contactOption, endpointOption } from "./options.ts";

it.each([
  ["http://127.0.0.1:8000", "http://127.0.0.1:8000/mcp"],
  ["https://league.example/a", "https://league.example/a"],
])("an endpoint is an http URL, with a path: %s", (text, endpoint) => {
  expect(endpointOption(text)).toBe(endpoint);
});

it.each(["http://u:p@127.0.0.1:8000/mcp", "https://u@league.example", "ftp://league.example", "127.0.0.1:8000", ""])(
  "%j is no endpoint that an agent can call",
  (text) => {
    expect(() => endpointOption(text)).toThrow(InvalidArgumentError);
    expect(() => contactOption(text)).toThrow(InvalidArgumentError);
    expect(() => botOption(`fish=${text}`, new Map())).toThrow(InvalidArgumentError);
  },
);

it("the endpoint by which others reach an agent stays as it is typed", () => {
  expect(contactOption("https://league.example/")).toBe("https://league.example/");
});

it("players for games of this host are collected by name", () => {
  const first = botOption("fish=http://127.0.0.1:8150/mcp", new Map());
  expect([...botOption("crab=http://127.0.0.1:8151", first)]).toEqual([
    ["fish", "http://127.0.0.1:8150/mcp"],
    ["crab", "http://127.0.0.1:8151"],
  ]);
});

it.each(["fish", "human=http://127.0.0.1:8150/mcp", "a b=http://127.0.0.1:8150/mcp"])("%j names no player", (text) => {
  expect(() => botOption(text, new Map())).toThrow("give a name and an endpoint");
});
