import { expect, it } from "vitest";
import { nameParts } from "./texts/league-texts.ts";

it.each([
  ["Ann wins (checkmate)", ["Ann", "Bob"], ["Ann", " wins (checkmate)"]],
  ["no winner (Ann: late; Bob: late)", ["Ann", "Bob"], ["no winner (", "Ann", ": late; ", "Bob", ": late)"]],
  ["Anna wins", ["Ann", "Anna"], ["Anna", " wins"]],
  ["(.*) [x] wins", ["(.*) [x]", ""], ["(.*) [x]", " wins"]],
  ["draw", [], ["draw"]],
])("the names in “%s” are separate parts", (text, names, parts) => {
  expect(nameParts(text, names)).toEqual(parts);
});
