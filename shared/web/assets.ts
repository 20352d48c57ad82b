import { createHash } from "node:crypto";
import { basename, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import type { Express } from "express";
import type { BoardKind } from "#shared/games/game.ts";
import { lazily } from "#shared/lib/lazy.ts";
import { bundleOptions, readSprite, webFile } from "./bundle.ts";
import { withEsbuild } from "./esbuild.ts";
import { BASE_STYLE, BOARD_FILES, PAGE_FILES, type PageKind, TEXT_STYLE } from "./page-files.ts";

/** A file that pages load. Its name contains a hash of its content, so browsers may keep it forever. */
interface Asset {
  readonly type: string;
  readonly body: Buffer;
  /** The body compressed with gzip. */
  readonly gzip: Buffer;
}

interface Assets {
  /** The files by their paths: `/assets/leagues-main-ABCD1234.js`. */
  readonly files: ReadonlyMap<string, Asset>;
  /**
   * Returns the paths of the files that a kind of page loads first. `board` is the board that it shows: null is a game without a graphical board; if it is
   * undefined, the board is not known and is loaded later, and the page has the styles of all boards.
   */
  filesOf(page: PageKind, board?: BoardKind | null): FilesOfPage;
  /** The path of the style of all pages. */
  readonly baseStyle: string;
  /** The path of the script of the shared worker for live documents. */
  readonly worker: string;
  /** The path of the chess pieces as SVG, with ids from "wk" to "bp". */
  readonly pieces: string;
}

interface FilesOfPage {
  readonly main: string;
  /** The modules that `main` imports at its start, directly or not. */
  readonly modules: readonly string[];
  /** In the order in which they apply. */
  readonly styles: readonly string[];
}

/** The folder of the assets in the addresses of a server. */
const ASSETS_PATH = "/assets/";

const TYPES: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};

const WORKER = "site/live-worker-main.tsx";
const pages = Object.values(PAGE_FILES);
const boards = Object.values(BOARD_FILES);
const entries = pages.map(({ entry }) => entry);
const styles = [BASE_STYLE, TEXT_STYLE, ...[...pages, ...boards].flatMap((one) => one.styles)];

/** Bundles the assets of all pages in memory, at the first call only. A call that fails or takes too long is repeated at the next call. */
export const assets = lazily("the scripts and styles of the pages", async (): Promise<Assets> => {
  const { outputFiles, metafile } = await withEsbuild(({ build }) =>
    build({
      ...bundleOptions,
      entryPoints: [...new Set([...entries, WORKER, ...styles])].map(webFile),
      outdir: "out",
      metafile: true,
      format: "esm",
      splitting: true,
      entryNames: "[name]-[hash]",
      chunkNames: "chunk-[hash]",
    }),
  );
  const files = new Map<string, Asset>();
  const add = (name: string, body: Buffer): string => {
    const path = ASSETS_PATH + name;
    files.set(path, {
      type: TYPES[name.slice(name.lastIndexOf(".") + 1)] ?? "",
      body,
      gzip: gzipSync(body, { level: 9 }),
    });
    return path;
  };
  for (const { path, contents } of outputFiles) add(basename(path), Buffer.from(contents));
  const sprite = Buffer.from(await readSprite());
  const pieces = add(`pieces-${createHash("sha256").update(sprite).digest("hex").slice(0, 8)}.svg`, sprite);
  const outputs = Object.entries(metafile.outputs).map(([path, output]) => ({ name: basename(path), ...output }));
  /** The name of the output of a source file, by the file. */
  const named = new Map(outputs.flatMap(({ name, entryPoint }) => (entryPoint ? [[resolve(entryPoint), name]] : [])));
  const nameOf = (file: string): string => {
    const name = named.get(webFile(file));
    if (name === undefined) throw new Error(`${file} is not bundled: no page loads it`);
    return name;
  };
  const pathOf = (file: string): string => ASSETS_PATH + nameOf(file);
  /** Adds a module and those that it imports at its start, directly or not. */
  const addModules = (name: string, found: Set<string>): ReadonlySet<string> => {
    if (found.has(name)) return found;
    found.add(name);
    for (const { path, kind } of outputs.find((output) => output.name === name)?.imports ?? [])
      if (kind === "import-statement") addModules(basename(path), found);
    return found;
  };
  return {
    files,
    filesOf(page, board) {
      const { entry, module, hasBoard, styles } = PAGE_FILES[page];
      const shown = hasBoard && board ? [BOARD_FILES[board]] : [];
      const main = nameOf(entry);
      const modules = new Set<string>();
      for (const file of [entry, ...(module ? [module] : []), ...shown.map((one) => one.module)])
        addModules(nameOf(file), modules);
      modules.delete(main);
      return {
        main: ASSETS_PATH + main,
        modules: [...modules].map((name) => ASSETS_PATH + name),
        styles: [BASE_STYLE, ...(hasBoard ? stylesOf(board) : []), ...styles].map(pathOf),
      };
    },
    baseStyle: pathOf(BASE_STYLE),
    worker: pathOf(WORKER),
    pieces,
  };
});

/** Returns the styles of a board; undefined is any board. */
function stylesOf(board: BoardKind | null | undefined): readonly string[] {
  if (board === null) return [TEXT_STYLE];
  return board ? BOARD_FILES[board].styles : [...new Set(boards.flatMap((one) => one.styles))];
}

const HEADERS = { "cache-control": "public, max-age=31536000, immutable", vary: "accept-encoding" };

/** Serves the files of pages. */
export function assetRoutes(app: Express): void {
  app.get(`${ASSETS_PATH}:name`, async (request, response, next) => {
    const found = (await assets()).files.get(ASSETS_PATH + request.params.name);
    if (!found) return next();
    response.set(HEADERS).type(found.type);
    if (request.acceptsEncodings("gzip")) response.set("content-encoding", "gzip").end(found.gzip);
    else response.end(found.body);
  });
}
