import { expect, test } from "vitest";
import { pathOf } from "./texts/links.ts";

test.each([
  ["http://192.168.1.7:8001/game/1#seat=abc", "/game/1#seat=abc"],
  ["http://[fd00::1]:8001/game/1", "/game/1"],
  ["/game/1#seat=abc", "/game/1#seat=abc"],
])("pathOf(%s) is %s", (link, path) => {
  expect(pathOf(link)).toBe(path);
});
