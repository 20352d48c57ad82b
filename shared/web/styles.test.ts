import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const folder = fileURLToPath(new URL("styles/", import.meta.url));

const HEX = /#(?:[0-9a-f]{8}|[0-9a-f]{6}|[0-9a-f]{3,4})\b/;
const FUNCTION = /\b(?:rgba?|hsla?|hwb|lab|lch|oklab|oklch|color)\(/;
/** The names of colours that people write by hand; the list of CSS has 148. */
const NAMES =
  "black|white|gray|grey|silver|red|maroon|pink|orange|gold|yellow|olive|lime|green|teal|aqua|cyan|blue|navy|purple|violet|magenta|fuchsia|brown|beige|tan|(?:dark|light|medium|deep|dim|slate)[a-z]+|canvas(?:text)?";
const NAME = new RegExp(`(?<![\\w-])(?:${NAMES})(?![\\w-])`);
const COLOUR = new RegExp([HEX, FUNCTION, NAME].map(({ source }) => source).join("|"), "gi");

/** Returns the colours in the declarations of a style sheet. */
const coloursIn = (css: string): readonly string[] =>
  [...css.replaceAll(/\/\*.*?\*\//gs, "").matchAll(/(?<=[{;])\s*[\w-]+\s*:([^;{}]*)(?=[;}])/g)].flatMap(
    ([, value = ""]) => value.match(COLOUR) ?? [],
  );

it("only tokens.css has colours", () => {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".css"));
  expect(files).toContain(join("boards", "chess.css"));
  const found = files.filter((file) => coloursIn(readFileSync(folder + file, "utf8")).length > 0);
  expect(found).toEqual(["tokens.css"]);
});

it.each([
  ["a { color: #fff; }", ["#fff"]],
  ["a { border: 1px solid Red }", ["Red"]],
  ["a{background:rgb(0 0 0 / 5%)}", ["rgb("]],
  ["a { color: darkslategray; fill: oklch(1 0 0); }", ["darkslategray", "oklch("]],
  ["/* red */ #abc a:hover { color: var(--side-red); white-space: nowrap; fill: currentcolor; }", []],
  ["a { background: color-mix(in srgb, var(--line) 38%, transparent); }", []],
])("colours of %s", (css, colours) => {
  expect(coloursIn(css)).toEqual(colours);
});
