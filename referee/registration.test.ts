import { expect, it } from "vitest";
import { pagesOfManager } from "./registration.ts";

const LOCAL = "http://127.0.0.1:8000";
const LAN = "http://192.168.0.7:8000";

it.each<[string, string, readonly string[], readonly string[]]>([
  ["on this machine", LOCAL, [LAN], [LAN, LOCAL]],
  ["on this machine for itself only", LOCAL, [LOCAL], [LOCAL, LOCAL]],
  ["on another machine, whose loopback is not that of this one", LAN, [LOCAL], [LAN]],
  ["without pages", LOCAL, [], []],
])("the pages of a manager %s", (_, manager, announced, pages) => {
  expect(pagesOfManager(`${manager}/mcp`, announced)).toEqual(pages);
});
