import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { knownGames } from "#shared/games/registry.ts";
import { lazily } from "#shared/lib/lazy.ts";
import { moduleUrl } from "#shared/lib/module-file.ts";
import { escapeHtml } from "#shared/lib/text.ts";
import { withEsbuild } from "./esbuild.ts";
import { type BoardMode, type BoardSetup, factsOf, type GameView, type ReportSetup, type Seat } from "./game-view.ts";

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

interface BoardOptions {
  readonly mode: BoardMode;
  /** The game that is shown initially. Required for "embed", which receives no state. */
  readonly game?: GameView;
  /**
   * The seat of the person. Every reader of the document can play it, so the document must be shown to this person
   * only.
   */
  readonly seat?: Seat;
}

/**
 * Returns a board as one self-contained HTML document with its script, styles and pieces, for the host of an MCP App or
 * for a frame. Its content security policy denies every request. The host may add a script to the document.
 */
export async function embeddedBoard({ mode, game, seat }: BoardOptions): Promise<string> {
  const { board, style, sprite } = await bundle();
  const setup: BoardSetup = { mode, game: game ?? null, seat: seat ?? null, games: factsOf(knownGames()) };
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="content-security-policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>${escapeHtml(game?.name ?? "Game")}</title>
<style>${style}</style></head>
<body class="${mode}"><div id="root"></div>
<div hidden>${sprite.slice(sprite.indexOf("<!--"))}</div>
${setupElement(setup)}
<script>${board}</script></body></html>
`;
}

const POLICY =
  "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

interface ReportPage {
  readonly title: string;
  /** The content as HTML. All data in it must be escaped. */
  readonly main: string;
  readonly setup: ReportSetup;
}

/**
 * Returns a function that makes a report: one self-contained HTML document that opens without a server. Its content security policy denies every
 * request, and every script and style except the two parts that are in the document.
 */
export async function reportPage(): Promise<(report: ReportPage) => string> {
  const { report: script, reportStyle: style, sprite } = await bundle();
  const policy = `default-src 'none'; script-src ${hashOf(script)}; style-src ${hashOf(style)}; img-src data:; base-uri 'none'; form-action 'none'`;
  return ({ title, main, setup }) => `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="content-security-policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="${ICON}">
<title>${escapeHtml(title)}</title>
<style>${style}</style></head>
<body class="report">
<div hidden>${sprite.slice(sprite.indexOf("<!--"))}</div>
${main}
${setupElement(setup)}
<script>${script}</script></body></html>
`;
}

const hashOf = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** The icon of every page: three bars of a podium. */
export const ICON = `data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><g fill="#1f5fbf"><rect x="1" y="8" width="4" height="7" rx="1"/><rect x="6" y="3" width="4" height="12" rx="1"/><rect x="11" y="10" width="4" height="5" rx="1"/></g></svg>')}`;

/** Returns the element that contains the data of a page for its script. */
export const setupElement = (setup: object): string =>
  `<script type="application/json" id="setup">${jsonForScript(setup)}</script>`;

/** Returns JSON that cannot end its script element, whatever text it contains. */
export function jsonForScript(value: unknown): string {
  return JSON.stringify(value).replaceAll("<", "\\u003c");
}
