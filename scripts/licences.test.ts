import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { root } from "./testing/processes.ts";

/** The licences under which this project may use and distribute a package, by their SPDX ids. */
const PERMITTED: ReadonlySet<string> = new Set([
  "MIT",
  "ISC",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "0BSD",
  "Apache-2.0",
  "Unlicense",
  "CC0-1.0",
  "OFL-1.1",
]);
/** The only files of other authors under another licence: the chess pieces, which the README names. */
const PIECES = "cm-chessboard/assets/pieces/standard.svg";

const Lock = z.object({
  packages: z.record(
    z.string(),
    z.object({ version: z.string().optional(), license: z.string().optional(), dev: z.boolean().default(false) }),
  ),
});

const read = (file: string): string => readFileSync(join(root, file), "utf8");

/**
 * Returns whether an SPDX expression permits the use: `OR` needs one permitted side, `AND` both. AND binds more strongly than OR. An expression
 * with an exception (`WITH`), an unknown licence or another form is not permitted.
 */
function isPermitted(expression: string): boolean {
  const tokens = expression.match(/[()]|[^\s()]+/g) ?? [];
  let at = 0;
  const joined = (operator: string, part: () => boolean, join: (a: boolean, b: boolean) => boolean): boolean => {
    let value = part();
    while (tokens[at] === operator) {
      at++;
      const next = part();
      value = join(value, next);
    }
    return value;
  };
  const one = (): boolean => {
    const token = tokens[at++] ?? "";
    if (token !== "(") return PERMITTED.has(token);
    const value = any();
    return tokens[at++] === ")" && value;
  };
  const all = (): boolean => joined("AND", one, (a, b) => a && b);
  const any = (): boolean => joined("OR", all, (a, b) => a || b);
  const value = any();
  return value && at === tokens.length;
}

describe("an SPDX expression", () => {
  it.each([
    "MIT",
    "(MIT OR CC0-1.0)",
    "GPL-3.0-only OR MIT",
    "MIT AND BSD-3-Clause",
    "(GPL-2.0-only OR MIT) AND (ISC OR LGPL-3.0-only)",
    "MIT OR GPL-3.0-only AND LGPL-2.1-only",
  ])("%s permits the use", (expression) => {
    expect(isPermitted(expression)).toBe(true);
  });

  it.each([
    "",
    "GPL-3.0-only",
    "MIT AND GPL-3.0-only",
    "(MIT OR ISC) AND CC-BY-NC-4.0",
    "MIT AND (GPL-3.0-only OR LGPL-2.1-only)",
    "GPL-2.0-only WITH Classpath-exception-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "SEE LICENSE IN LICENSE",
    "UNLICENSED",
    "(MIT",
    "MIT)",
    "MIT ISC",
    "MIT OR",
    "mit",
  ])("%j does not permit the use", (expression) => {
    expect(isPermitted(expression)).toBe(false);
  });
});

it("every package that a user of this project installs has a licence that permits its use", () => {
  const { packages } = Lock.parse(JSON.parse(read("package-lock.json")));
  const installed = Object.entries(packages).filter(([path, { dev }]) => path !== "" && !dev);
  expect(installed.length).toBeGreaterThan(100);
  const refused = installed.flatMap(([path, { version, license = "" }]) =>
    isPermitted(license) ? [] : [`${path} ${version}: ${license || "no licence"}`],
  );
  expect(refused).toEqual([]);
});

it("the chess pieces are the only exception: their authors and their licence are in the README, and no other pieces are used", () => {
  const svg = readFileSync(createRequire(import.meta.url).resolve(PIECES), "utf8");
  const [licence = "none"] = /CC BY-SA [\d.]+/.exec(svg) ?? [];
  const authors = [...svg.matchAll(/wikipedia\.org\/wiki\/User:(\w+)/g)].map(([, author]) => author);
  expect(authors.length).toBeGreaterThan(0);
  const [, section = ""] = read("README.md").split("## Licence");
  for (const named of [licence, ...authors]) expect(section).toContain(named);
  expect([...read("shared/web/bundle.ts").matchAll(/cm-chessboard\/assets\/[\w./-]+/g)].flat()).toEqual([PIECES]);
});
