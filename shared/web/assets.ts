import { createHash } from "node:crypto";
import { basename } from "node:path";
import { gzipSync } from "node:zlib";
import { lazily } from "../lib/lazy.ts";
import { bundleOptions, readSprite, webFile } from "./bundle.ts";

/** A file that pages load. Its name contains a hash of its content, so browsers may keep it forever. */
export interface Asset {
  readonly type: string;
  readonly body: Buffer;
  /** The body compressed with gzip. */
  readonly gzip: Buffer;
}

/** The scripts of pages, by the names of their entries in `site/`. */
export type Entry = "board" | "games" | "leagues" | "play";

export interface Assets {
  /** The files by their paths: `/assets/leagues-ABCD1234.js`. */
  readonly files: ReadonlyMap<string, Asset>;
  /** Returns the path of the script of an entry, and of the modules that it imports. */
  scriptsOf(entry: Entry): { readonly main: string; readonly imported: readonly string[] };
  /** Returns the path of the style of an entry. */
  styleOf(entry: Entry): string;
  /** The path of the script of the shared worker for live documents. */
  readonly worker: string;
  /** The path of the chess pieces as SVG, with ids from "wk" to "bp". */
  readonly pieces: string;
}

/** The styles of the entries. */
const STYLES: Readonly<Record<Entry, string>> = {
  board: "games-style",
  games: "games-style",
  leagues: "leagues-style",
  play: "play-style",
};

/** The folder of the assets in the addresses of a server. */
export const ASSETS_PATH = "/assets/";

const TYPES: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};

/** Bundles the assets of all pages in memory, at the first call only. A failed call is repeated at the next call. */
export const assets = lazily(async (): Promise<Assets> => {
  // Imported here, because most processes never serve a page.
  const esbuild = await import("esbuild");
  const { outputFiles, metafile } = await esbuild.build({
    ...bundleOptions,
    entryPoints: {
      board: webFile("site/board-main.tsx"),
      games: webFile("site/games-main.tsx"),
      leagues: webFile("site/leagues-main.tsx"),
      play: webFile("site/play-main.tsx"),
      worker: webFile("site/live-worker-main.tsx"),
      ...Object.fromEntries([...new Set(Object.values(STYLES))].map((name) => [name, webFile(`styles/${name}.css`)])),
    },
    outdir: "out",
    metafile: true,
    format: "esm",
    splitting: true,
    entryNames: "[name]-[hash]",
    chunkNames: "chunk-[hash]",
  });
  // Ends the helper process of esbuild.
  await esbuild.stop();
  const files = new Map<string, Asset>();
  const add = (name: string, body: Buffer): string => {
    const path = ASSETS_PATH + name;
    files.set(path, { type: TYPES[name.slice(name.lastIndexOf(".") + 1)] ?? "", body, gzip: gzipSync(body) });
    return path;
  };
  for (const { path, contents } of outputFiles) add(basename(path), Buffer.from(contents));
  const sprite = Buffer.from(await readSprite());
  const pieces = add(`pieces-${createHash("sha256").update(sprite).digest("hex").slice(0, 8)}.svg`, sprite);
  const outputs = Object.entries(metafile.outputs).map(([path, output]) => ({ name: basename(path), ...output }));
  const named = (entry: string): string =>
    outputs.find(({ name }) => name.startsWith(entry) && /^-\w{8}\.\w+$/.test(name.slice(entry.length)))?.name ?? "";
  /** The modules that a module imports at its start, directly or not. */
  const importsOf = (name: string, found: Set<string> = new Set()): ReadonlySet<string> => {
    for (const { path, kind } of outputs.find((output) => output.name === name)?.imports ?? []) {
      const imported = basename(path);
      if (kind !== "import-statement" || found.has(imported)) continue;
      found.add(imported);
      importsOf(imported, found);
    }
    return found;
  };
  return {
    files,
    scriptsOf(entry) {
      const main = named(entry);
      return { main: ASSETS_PATH + main, imported: [...importsOf(main)].map((name) => ASSETS_PATH + name) };
    },
    styleOf: (entry) => ASSETS_PATH + named(STYLES[entry]),
    worker: ASSETS_PATH + named("worker"),
    pieces,
  };
});
