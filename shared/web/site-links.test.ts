import { describe, expect, it, test } from "vitest";
import { originOf, reachableFrom, siteLinks } from "./site-links.ts";

const LOCAL = "http://127.0.0.1:8000";
const LAN = "http://192.168.0.7:8000";
const OTHER = "http://10.0.0.5:8000";
const PUBLIC = "https://league.example.org";

describe("reachableFrom", () => {
  it.each<[string, readonly string[], string | null]>([
    ["127.0.0.1", [LAN, LOCAL], LOCAL],
    ["localhost", [LAN, LOCAL], LOCAL],
    ["[::1]", [LOCAL], LOCAL],
    ["127.0.0.1", [PUBLIC], PUBLIC],
    ["192.168.0.7", [OTHER, LAN, LOCAL], LAN],
    ["192.168.0.9", [LOCAL, OTHER, LAN], OTHER],
    ["[fd00::1]", [LAN, "http://[fd00::1]:8000"], "http://[fd00::1]:8000"],
    ["192.168.0.7", [LOCAL, "http://localhost:8000", "http://[::1]:8000"], null],
    ["127.0.0.1", [], null],
  ])("for a reader at %s chooses from %j the origin %s", (host, origins, expected) => {
    expect(reachableFrom(host, origins)).toBe(expected);
  });

  it.each(["javascript:alert(1)", "ftp://10.0.0.5", "http://user:secret@10.0.0.5", 'http://10.0.0.5"><b>', ""])(
    "ignores %j, which is no origin over HTTP",
    (text) => expect(reachableFrom("127.0.0.1", [text])).toBe(null),
  );
});

test("a server without another one links to its own pages only", () => {
  const hrefs = (leagues: string | null, games: string | null) => siteLinks({ leagues, games }).map(({ href }) => href);
  expect(hrefs(null, "")).toEqual(["/", "/#new-game"]);
  expect(hrefs("", null)).toEqual(["/leagues", "/play"]);
  expect(hrefs(LOCAL, "")).toEqual([`${LOCAL}/leagues`, `${LOCAL}/play`, "/", "/#new-game"]);
});

test.each([
  ["http://127.0.0.1:8001/mcp", "http://127.0.0.1:8001"],
  ["http://127.0.0.1:8001/mcp/", "http://127.0.0.1:8001"],
  ["http://127.0.0.1:8001/", "http://127.0.0.1:8001"],
])("the pages of %s are at %s", (endpoint, origin) => {
  expect(originOf(endpoint)).toBe(origin);
});
