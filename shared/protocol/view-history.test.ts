import { expect, it } from "vitest";
import { HistoryForm, OmittedHistory } from "./message-fields.ts";

it.each([
  ["full", "full"],
  ["delta", "delta"],
  ["patch", "full"],
  [7, "full"],
  [{ form: "delta" }, "full"],
])("the form %j of the history counts as %s", (form, expected) => {
  expect(HistoryForm.parse(form)).toBe(expected);
});

it("the path of a list has one to five names, and at least one element is left out", () => {
  const isValid = (omitted: unknown): boolean => OmittedHistory.safeParse(omitted).success;
  expect(isValid({ list: ["series", "previous_rounds"], from: 1 })).toBe(true);
  expect(isValid({ list: ["a", "b", "c", "d", "e"], from: 1 })).toBe(true);
  const invalid = [
    { list: [], from: 1 },
    { list: ["a", "b", "c", "d", "e", "f"], from: 1 },
    { list: "rounds", from: 1 },
    { list: ["rounds"], from: 0 },
    { list: ["rounds"], from: 1.5 },
    { list: ["rounds"] },
    "rounds",
    1,
  ];
  expect(invalid.filter(isValid)).toEqual([]);
});
