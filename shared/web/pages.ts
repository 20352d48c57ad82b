import { createHash } from "node:crypto";
import { games as registered } from "../games/registry.ts";
import { escapeHtml } from "../lib/text.ts";
import { bundle } from "./bundle.ts";
import { factsOf } from "./game-facts.ts";
import type { BoardMode, BoardSetup, GamesSetup, GameView, Seat } from "./game-view.ts";

const FACTS = factsOf(Object.values(registered));

interface BoardOptions {
  readonly mode: BoardMode;
  /** What is shown before anything is heard; needed for "embed", which hears nothing. */
  readonly game?: GameView;
  /** Whoever gets the document can play this seat: for one person's eyes only. */
  readonly seat?: Seat;
}

/**
 * A board as one self-contained HTML document, script, style and pieces inlined. It loads nothing and, but for "page", connects to nothing;
 * its own policy says so. A page takes its game from its address, `/game/{id}#seat=TOKEN`.
 */
export async function boardPage({ mode, game, seat }: BoardOptions): Promise<string> {
  const { board, style, sprite } = await bundle();
  const setup: BoardSetup = { mode, game: game ?? null, seat: seat ?? null, games: FACTS };
  const body = `<div hidden>${sprite.slice(sprite.indexOf("<!--"))}</div>
${setupOf(setup)}`;
  return documentOf({ mode, title: game?.name ?? "Game", body, script: board, style });
}

/** The list of games, active and finished, for `GET /`; it reads `GET /api/games` by itself. */
export async function gamesPage(): Promise<string> {
  const { games, style } = await bundle();
  return documentOf({ mode: "page", title: "Games", body: setupOf({ games: FACTS }), script: games, style });
}

/** For the address of a game that is not there. */
export async function missingPage(): Promise<string> {
  const { style } = await bundle();
  const body = '<h1>No such game</h1><p>There is no game at this address. <a href="/">All games</a></p>';
  return documentOf({ mode: "page", title: "No such game", body, script: "", style });
}

const setupOf = (setup: BoardSetup | GamesSetup): string =>
  `<script type="application/json" id="setup">${jsonForScript(setup)}</script>`;

/** JSON that cannot leave its script element, whatever the names in it. */
export function jsonForScript(value: unknown): string {
  return JSON.stringify(value).replaceAll("<", "\\u003c");
}

interface Document {
  readonly mode: BoardMode;
  readonly title: string;
  readonly body: string;
  readonly script: string;
  readonly style: string;
}

function documentOf({ mode, title, body, script, style }: Document): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="content-security-policy" content="${policyOf(mode, script)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>${escapeHtml(title)}</title>
<style>${style}</style></head>
<body class="${mode}"><div id="root"></div>
${body}
<script>${script}</script></body></html>
`;
}

/** Deny all, then what is inlined. On our own page only our own script may run; a host may add one of its own to the page it frames. */
function policyOf(mode: BoardMode, script: string): string {
  const scripts =
    mode === "page" ? `'sha256-${createHash("sha256").update(script).digest("base64")}'` : "'unsafe-inline'";
  const connect = mode === "page" ? "; connect-src 'self'" : "";
  return `default-src 'none'; script-src ${scripts}; style-src 'unsafe-inline'; img-src data:${connect}; base-uri 'none'; form-action 'none'`;
}
