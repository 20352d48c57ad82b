import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import type { BoardKind, Game } from "../games/game.ts";
import { games } from "../games/registry.ts";
import { assets } from "./assets.ts";
import { bundle } from "./bundle.ts";
import { BOARD_FILES, PAGE_FILES, type PageKind } from "./page-files.ts";
import { sitePage } from "./site-page.ts";

const SERVERS = { games: "http://127.0.0.1:8300", leagues: "http://127.0.0.1:8000" };

/** Each kind of page with each board that it can show; null is a game without a graphical board. */
const PAGES = Object.entries(PAGE_FILES).flatMap(([page, { hasBoard }]) =>
  (hasBoard ? [...Object.keys(BOARD_FILES), null] : [null]).map(
    (board) => [page as PageKind, board as BoardKind | null] as const,
  ),
);

/** Returns the scripts of pages as text: the self-contained ones, and those of each page. */
async function scripts(): Promise<readonly string[]> {
  const { board, report } = await bundle();
  const { files, filesOf } = await assets();
  const ofPages = PAGES.map(([page, shown]) => {
    const { main, modules } = filesOf(page, shown);
    return [main, ...modules].map((path) => String(files.get(path)?.body)).join("");
  });
  return [board, report, ...ofPages];
}

test("the scripts of the pages contain their JSX runtime, including components outside site/", async () => {
  for (const script of await scripts()) {
    expect(script.length).toBeGreaterThan(1_000);
    expect(script).not.toMatch(/\bReact\./);
  }
});

test("the scripts of the pages contain no game and no chess engine", async () => {
  for (const script of await scripts()) {
    for (const { info } of Object.values(games)) expect(script).not.toContain(info.rules.slice(0, 60));
    expect(script.length).toBeLessThan(150_000);
  }
});

/** Returns a game with a board; null is a game without one. */
function gameWith(board: BoardKind | null): Pick<Game, "id" | "info"> {
  const { board: _, ...info } = games["rps.v1"].info;
  return Object.values(games).find((game) => board && game.info.board === board) ?? { id: "rps.v1", info };
}

/** The bytes of the first load of a page, compressed: its document, and the files that the document names. */
async function firstLoadOf(page: PageKind, board: BoardKind | null): Promise<number> {
  const { files } = await assets();
  const html = await sitePage({
    page,
    game: gameWith(board),
    title: "Page",
    setup: { document: {} },
    servers: SERVERS,
  });
  const named = [...files].filter(
    ([path]) => html.includes(`"${path}"`) && (board === "chess" || !path.endsWith(".svg")),
  );
  return named.reduce((sum, [, { gzip }]) => sum + gzip.length, gzipSync(html).length);
}

test.each(PAGES)(
  "the first load of the page %s with the board %s has less than 43 kB, to which its data are added",
  async (page, board) => {
    const bytes = await firstLoadOf(page, board);
    expect(bytes).toBeGreaterThan(10_000);
    expect(bytes).toBeLessThan(43_000);
  },
);

test("only a page with a board tells its script to load one", async () => {
  const setup = { title: "Page", game: gameWith("hands"), servers: SERVERS } as const;
  expect(await sitePage({ ...setup, page: "match" })).toContain('"board":"hands"');
  expect(await sitePage({ ...setup, page: "standings" })).toContain('"board":null');
});

test("a page loads the board that it shows and no other one", async () => {
  const { files, filesOf } = await assets();
  const has = (page: PageKind, board: BoardKind | null, text: string): boolean => {
    const { main, modules, styles } = filesOf(page, board);
    return [main, ...modules, ...styles].some((path) => String(files.get(path)?.body).includes(text));
  };
  for (const text of ["Chess board, ", ".chess "]) {
    expect(has("match", "chess", text)).toBe(true);
    expect(has("match", "hands", text)).toBe(false);
    expect(has("standings", null, text)).toBe(false);
  }
});

test.each(Object.keys(BOARD_FILES) as BoardKind[])(
  "the board %s has the style of the grid if it draws one",
  async (board) => {
    const { files, filesOf } = await assets();
    const { modules, styles } = filesOf("match", board);
    const textOf = (paths: readonly string[]): string => paths.map((path) => String(files.get(path)?.body)).join("");
    const drawsGrid = textOf(modules).includes('role:"grid"');
    expect(textOf(styles).includes(".grid .cell")).toBe(drawsGrid);
    expect(drawsGrid).toBe(["chess", "marks", "discs", "words"].includes(board));
  },
);
