import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { lazily } from "../lib/lazily.ts";

/** All that a document needs besides its data. */
interface Bundle {
  /** Script of a board in any mode. */
  readonly board: string;
  /** Script of the list of games. */
  readonly games: string;
  readonly style: string;
  /** Chess pieces by id, "wk" to "bp": SVG. */
  readonly sprite: string;
}

/** Cburnett's pieces (CC BY-SA 3.0), with their licence inside. The package's other set may not be used commercially. */
const SPRITE = "cm-chessboard/assets/pieces/standard.svg";

/** Bundles the browser's part in memory, at the first call only; a call that failed is tried again. */
export const bundle = lazily(async (): Promise<Bundle> => {
  // Loaded with the first page: most processes never show one.
  const esbuild = await import("esbuild");
  const client = (file: string): string => fileURLToPath(new URL(`client/${file}`, import.meta.url));
  const { outputFiles } = await esbuild.build({
    entryPoints: { board: client("board-main.tsx"), games: client("games-main.tsx"), style: client("style.css") },
    outdir: "out",
    write: false,
    bundle: true,
    minify: true,
    format: "iife",
    // Explicit, because esbuild takes it from the nearest tsconfig.json, and boards/ has none.
    jsx: "automatic",
    jsxImportSource: "preact",
    target: "es2022",
    charset: "utf8",
    logLevel: "silent",
  });
  // Its helper process has done its work.
  await esbuild.stop();
  const text = (name: string): string => outputFiles.find(({ path }) => path.endsWith(name))?.text ?? "";
  const sprite = await readFile(createRequire(import.meta.url).resolve(SPRITE), "utf8");
  return { board: text("board.js"), games: text("games.js"), style: text("style.css"), sprite };
});
