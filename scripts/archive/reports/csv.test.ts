import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Cell, csvHeader, csvRow } from "./write-reports.ts";

/** Parses CSV by the grammar of RFC 4180. */
function parseCsv(text: string): readonly (readonly string[])[] {
  const rows: string[][] = [];
  let row: string[] = [];
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy;
  for (let found = cell.exec(text); found; found = cell.exec(text)) {
    row.push(found[1]?.replaceAll('""', '"') ?? found[2] ?? "");
    if (found[3] === "\r\n") {
      rows.push(row);
      row = [];
    }
    if (cell.lastIndex === text.length) return rows;
  }
  throw new Error(`not CSV: ${JSON.stringify(text)}`);
}

describe("csvRow", () => {
  it.each<[string, Cell, string]>([
    ["quotes a text with quotes and commas", 'Ann "A", B', '"Ann ""A"", B"'],
    ["quotes a text with a semicolon", "Ann;B", '"Ann;B"'],
    ["quotes a text with a line break", "a\r\nb", '"a\r\nb"'],
    ["writes an apostrophe before =", "=1+1", "'=1+1"],
    ["writes an apostrophe before @, and quotes", "@SUM(A1,A2)", `"'@SUM(A1,A2)"`],
    ["writes an apostrophe before the text -5", "-5", "'-5"],
    ["writes an apostrophe before a tab", "\t=1", `"'\t=1"`],
    ["writes an apostrophe before a full-width =", "＝1", "'＝1"],
    ["does not change the number -5", -5, "-5"],
    ["does not change a text with = in the middle", "a=1", "a=1"],
    ["writes null as an empty cell", null, ""],
    ["writes false as a word", false, "false"],
  ])("%s", (_, cell, written) => {
    expect(csvRow([cell])).toBe(`${written}\r\n`);
  });

  it("writes every table so that a parser reads the same cells, and no text cell is a formula", () => {
    const special = fc.constantFrom("=", "+", "-", "@", '"', ",", ";", "\r", "\n", "\t", "'", "a", "＠");
    const text = fc.oneof(
      fc.string(),
      fc.array(special, { maxLength: 8 }).map((parts) => parts.join("")),
    );
    const table = fc
      .integer({ min: 1, max: 5 })
      .chain((width) =>
        fc.array(fc.array(fc.oneof(text, fc.integer()), { minLength: width, maxLength: width }), { minLength: 1 }),
      );
    fc.assert(
      fc.property(table, (rows) => {
        const [header, ...read] = parseCsv(csvHeader(["a", "b"]).slice(1) + rows.map(csvRow).join(""));
        expect(header).toEqual(["a", "b"]);
        expect(read).toHaveLength(rows.length);
        for (const [y, row] of rows.entries()) {
          for (const [x, cell] of row.entries()) {
            const value = read[y]?.[x] ?? "";
            if (typeof cell === "number") expect(value).toBe(String(cell));
            else {
              expect(value).not.toMatch(/^[=+\-@\t\r\n]/);
              expect([cell, `'${cell}`]).toContain(value);
            }
          }
        }
      }),
    );
  });
});
