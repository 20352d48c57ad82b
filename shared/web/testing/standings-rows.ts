import type { Page } from "playwright-core";
import { expect } from "vitest";

const ROW_TEXTS = `[...document.querySelectorAll("tbody tr")].map((row) =>
  [row.querySelector("th bdi"), ...row.querySelectorAll("td.n")].map((cell) => cell?.textContent).join(" "))`;

/** Waits until the standings on a page have these rows: "Ann 3 1 1 0 0" with the name, the points and the numbers of matches. */
export async function showsRows(page: Page, rows: readonly string[]): Promise<void> {
  await expect.poll(() => page.evaluate(ROW_TEXTS)).toEqual(expect.arrayContaining([...rows]));
}
