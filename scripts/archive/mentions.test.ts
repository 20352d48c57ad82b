import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { countMentions, redactMentions } from "./personal-data.ts";

const folder = mkdtempSync(join(tmpdir(), "mentions-"));
afterAll(() => rmSync(folder, { recursive: true }));

it.each([
  ["a name between other words", ["Ann"], "Ann, Anna and MAnn met Ann", "***, Anna and MAnn met ***"],
  ["a name of letters outside of ASCII", ["Žofie"], "Žofie Žofieé „Žofie“ éŽofie", "****** Žofieé „******“ éŽofie"],
  [
    "a name with quotes, as JSON writes it",
    ['A "B"'],
    String.raw`{"name":"A \"B\"","x":1}`,
    '{"name":"*******","x":1}',
  ],
  ["an address", ["10.0.0.7:8101"], "at http://10.0.0.7:8101/mcp", "at http://*************/mcp"],
  ["several texts", ["Ann", "Bob"], "Ann:Bob", "***:***"],
  ["a name that ends with a sign", ["C++"], "C++, C+++", "***, ***+"],
  ["an empty name", [""], "Ann", "Ann"],
])("redactMentions overwrites %s with the same number of bytes", (_, texts, before, after) => {
  const file = join(folder, "log");
  writeFileSync(file, before);
  const count = countMentions(file, texts);
  expect(redactMentions(file, texts)).toBe(count);
  expect(readFileSync(file, "utf8")).toBe(after);
  expect(readFileSync(file).length).toBe(Buffer.byteLength(before));
  expect(countMentions(file, texts)).toBe(0);
});
