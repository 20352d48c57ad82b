import { expect, it } from "vitest";
import { clockInWords } from "./texts/game-texts.ts";

it.each([
  [3_729_999, "1:02:09"],
  [600_000, "10:00"],
  [65_999, "1:05"],
  [20_000, "0:20"],
  [19_999, "0:19.9"],
  [9_540, "0:09.5"],
  [99, "0:00.0"],
  [0, "0:00.0"],
])("%i ms are shown as %s", (ms, text) => {
  expect(clockInWords(ms)).toBe(text);
});
