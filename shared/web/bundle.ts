import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { lazily } from "../lib/lazy.ts";
import { moduleUrl } from "../lib/module-file.ts";
import { withEsbuild } from "./esbuild.ts";

/** The parts of self-contained documents apart from their data. */
interface Bundle {
  /** The script of a board. */
  readonly board: string;
  readonly style: string;
  /** The script of the replays in a report. */
  readonly report: string;
  readonly reportStyle: string;
  /** The chess pieces as SVG, with ids from "wk" to "bp". */
  readonly sprite: string;
}

/**
 * Pieces by Cburnett and Rfc1394 (CC BY-SA 3.0); the file contains the licence. The other set of the package may not be used
 * commercially.
 */
const SPRITE = "cm-chessboard/assets/pieces/standard.svg";

/** The options of esbuild for all scripts of pages. */
export const bundleOptions = {
  write: false,
  bundle: true,
  minify: true,
  // Explicit, because esbuild reads these options from the nearest tsconfig.json, and the folders of the scripts have none.
  jsx: "automatic",
  jsxImportSource: "preact",
  target: "es2022",
  charset: "utf8",
  logLevel: "silent",
} as const;

/** Returns the path of a file of this folder. */
export const webFile = (path: string): string => fileURLToPath(moduleUrl(path, import.meta.url));

/** Resolves with the chess pieces as SVG, without spaces and digits that cannot be seen. */
export async function readSprite(): Promise<string> {
  const svg = await readFile(createRequire(import.meta.url).resolve(SPRITE), "utf8");
  return svg
    .replaceAll(/(?<=>)\s+(?=<)/g, "")
    .replaceAll(/\d+\.\d{3,}/g, (number) => String(Number(Number(number).toFixed(2))));
}

/**
 * Bundles the scripts and styles of self-contained documents in memory, at the first call only. A call that fails or
 * takes too long is repeated at the next call.
 */
export const bundle = lazily("the scripts of boards and reports", async (): Promise<Bundle> => {
  const { outputFiles } = await withEsbuild(({ build }) =>
    build({
      ...bundleOptions,
      entryPoints: {
        board: webFile("site/embed-main.tsx"),
        style: webFile("styles/embed.css"),
        report: webFile("site/report-main.tsx"),
        "report-style": webFile("styles/report-style.css"),
      },
      outdir: "out",
      format: "iife",
    }),
  );
  const text = (name: string): string => outputFiles.find(({ path }) => path.endsWith(name))?.text ?? "";
  return {
    board: text("board.js"),
    style: text("/style.css"),
    report: text("report.js"),
    reportStyle: text("report-style.css"),
    sprite: await readSprite(),
  };
});
