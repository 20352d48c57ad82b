import type { Summary } from "./figures.ts";

const VERDICT = { true: "met     ", false: "missed  ", null: "reported" };

/** Formats the rows as a table, followed by the aims. Returns an empty text without rows and aims. */
export function formatSummary({ rows, aims }: Summary): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length))) ?? [];
  const isNumber = (column: number): boolean => column >= 1 && column <= 3;
  const lines = rows.map((row) =>
    row
      .map((cell, column) => (isNumber(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)))
      .join("  ")
      .trimEnd(),
  );
  const table = rows.length > 1 ? lines : [];
  const aimWidth = Math.max(...aims.map(({ aim }) => aim.length));
  const verdicts = aims.map(
    ({ aim, measured, isMet }) => `${VERDICT[`${isMet}`]}  ${aim.padEnd(aimWidth)}  ${measured}`,
  );
  return [...table, ...(table.length > 0 && verdicts.length > 0 ? [""] : []), ...verdicts].join("\n");
}
