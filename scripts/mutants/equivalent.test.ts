import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { equivalentOf, type Mutant, readEquivalents } from "./stryker.ts";

const root = join(import.meta.dirname, "../..");
const entries = readEquivalents();

describe("the equivalent changes", () => {
  it.each(entries)("of $file have a reason and name a line of the file: $original -> $replacement", (entry) => {
    const lines = readFileSync(join(root, entry.file), "utf8").split("\n");
    expect(lines.map((line) => line.trim())).toContain(entry.line);
    expect(entry.original).not.toBe(entry.replacement);
    expect(entry.reason).toMatch(/\.$/);
  });

  it("hold for their change of their line only", () => {
    const [entry] = entries;
    if (!entry) throw new Error("no entry");
    const mutant: Mutant = { ...entry, place: "1:1", range: "1:0-1:1", outcome: "survived" };
    expect(equivalentOf(mutant, entries)).toBe(entry);
    for (const field of ["file", "line", "original", "replacement"])
      expect(equivalentOf({ ...mutant, [field]: "another" }, entries)).toBeUndefined();
  });
});
