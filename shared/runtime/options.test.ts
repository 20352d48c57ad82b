import { InvalidArgumentError } from "commander";
import { expect, it } from "vitest";
import { endpointOption } from "./options.ts";

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
  },
);
