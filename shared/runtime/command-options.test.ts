import { InvalidArgumentError } from "commander";
import { expect, it } from "vitest";
import { allowedOriginOption, botOption, contactOption, endpointOption } from "./command-options.ts";

it.each([
  ["http://127.0.0.1:8000", "http://127.0.0.1:8000/mcp"],
  ["https://league.example/a", "https://league.example/a"],
])("endpointOption accepts %s and adds the path /mcp if there is none", (text, endpoint) => {
  expect(endpointOption(text)).toBe(endpoint);
});

it.each(["http://u:p@127.0.0.1:8000/mcp", "https://u@league.example", "ftp://league.example", "127.0.0.1:8000", ""])(
  "%j is rejected as an endpoint",
  (text) => {
    expect(() => endpointOption(text)).toThrow(InvalidArgumentError);
    expect(() => contactOption(text)).toThrow(InvalidArgumentError);
    expect(() => botOption(`fish=${text}`, new Map())).toThrow(InvalidArgumentError);
  },
);

it.each(["127.0.0.1:8000", "localhost:8000", "[::1]:8000/mcp", "league.example", "league.example/mcp"])(
  "the rejection of %j, which lacks http://, has the address with it",
  (text) => {
    expect(() => endpointOption(text)).toThrow(`an address begins with http://. Did you mean http://${text}?`);
  },
);

it.each(["", "Ann", "ftp://league.example", "127.0.0.1:x", "http://u:p@127.0.0.1:8000/mcp"])(
  "the rejection of %j has an example",
  (text) => {
    expect(() => endpointOption(text)).toThrow("give a URL such as http://127.0.0.1:8000/mcp");
  },
);

it("contactOption returns the endpoint unchanged", () => {
  expect(contactOption("https://league.example/")).toBe("https://league.example/");
});

it("botOption collects endpoints by name", () => {
  const first = botOption("fish=http://127.0.0.1:8150/mcp", new Map());
  expect([...botOption("crab=http://127.0.0.1:8151", first)]).toEqual([
    ["fish", "http://127.0.0.1:8150/mcp"],
    ["crab", "http://127.0.0.1:8151"],
  ]);
});

it.each(["fish", "human=http://127.0.0.1:8150/mcp", "a b=http://127.0.0.1:8150/mcp"])(
  "botOption rejects %j",
  (text) => {
    expect(() => botOption(text, new Map())).toThrow("give a name and an endpoint");
  },
);

it("allowedOriginOption collects origins of web pages", () => {
  const { parseArg } = allowedOriginOption();
  expect(parseArg?.("http://127.0.0.1:3000", ["https://app.example"])).toEqual([
    "https://app.example",
    "http://127.0.0.1:3000",
  ]);
  for (const text of ["null", "*", "app.example", "https://app.example/"])
    expect(() => parseArg?.(text, [])).toThrow("give an origin without a path");
});
