import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { lazily } from "../lib/lazy.ts";
import { moduleUrl } from "../lib/module-file.ts";

/** The parts of a document apart from its data. */
interface Bundle {
  /** The script of a board in any mode. */
  readonly board: string;
  /** The script of the list of games. */
  readonly games: string;
  /** The script of the page on which a person plays in a league. */
  readonly league: string;
  readonly style: string;
  /** The script of the replays in a report. */
  readonly report: string;
  readonly reportStyle: string;
  /** The chess pieces as SVG, with ids from "wk" to "bp". */
  readonly sprite: string;
}

/**
 * Pieces by Cburnett (CC BY-SA 3.0); the file contains the licence. The other set of the package may not be used
 * commercially.
 */
const SPRITE = "cm-chessboard/assets/pieces/standard.svg";

/**
 * Bundles the scripts and styles of the pages in memory, at the first call only. A failed call is repeated at the next
 * call.
 */
export const bundle = lazily(async (): Promise<Bundle> => {
  // Imported here, because most processes never serve a page.
  const esbuild = await import("esbuild");
  const file = (path: string): string => fileURLToPath(moduleUrl(path, import.meta.url));
  const { outputFiles } = await esbuild.build({
    entryPoints: {
      board: file("site/board-main.tsx"),
      games: file("site/games-main.tsx"),
      league: file("site/play-main.tsx"),
      style: file("styles/style.css"),
      report: file("site/report-main.tsx"),
      "report-style": file("styles/report-style.css"),
    },
    outdir: "out",
    write: false,
    bundle: true,
    minify: true,
    format: "iife",
    // Explicit, because esbuild reads these options from the nearest tsconfig.json, and boards/ has none.
    jsx: "automatic",
    jsxImportSource: "preact",
    target: "es2022",
    charset: "utf8",
    logLevel: "silent",
  });
  // Ends the helper process of esbuild.
  await esbuild.stop();
  const text = (name: string): string => outputFiles.find(({ path }) => path.endsWith(name))?.text ?? "";
  const sprite = await readFile(createRequire(import.meta.url).resolve(SPRITE), "utf8");
  return {
    board: text("board.js"),
    games: text("games.js"),
    league: text("league.js"),
    style: text("/style.css"),
    report: text("report.js"),
    reportStyle: text("report-style.css"),
    sprite,
  };
});
