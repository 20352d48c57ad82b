import { createHash } from "node:crypto";
import { knownGames } from "../games/registry.ts";
import { escapeHtml } from "../lib/text.ts";
import { bundle } from "./bundle.ts";
import { factsOf } from "./game-facts.ts";
import type { BoardMode, BoardSetup, GamesSetup, GameView, Seat } from "./game-view.ts";

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
 * Returns a board as one self-contained HTML document with its script, styles and pieces. It loads no files and, except
 * in mode "page", connects to no server, which its content security policy enforces. A page takes the game from its
 * address, `/game/{id}#seat=TOKEN`.
 */
export async function boardPage({ mode, game, seat }: BoardOptions): Promise<string> {
  const { board, style, sprite } = await bundle();
  const setup: BoardSetup = { mode, game: game ?? null, seat: seat ?? null, games: factsOf(knownGames()) };
  const body = `<div hidden>${sprite.slice(sprite.indexOf("<!--"))}</div>
${setupOf(setup)}`;
  return documentOf({ mode, title: game?.name ?? "Game", body, script: board, style });
}

/** Returns the page with the list of games for `GET /`. The page reads `GET /api/games`. */
export async function gamesPage(): Promise<string> {
  const { games, style } = await bundle();
  return documentOf({
    mode: "page",
    title: "Games",
    body: setupOf({ games: factsOf(knownGames()) }),
    script: games,
    style,
  });
}

/** Returns the page on which a person plays in a league of a manager. A claim of a mate is not a message of a league. */
export async function leaguePlayPage(): Promise<string> {
  const { league, style, sprite } = await bundle();
  const games = Object.fromEntries(
    Object.entries(factsOf(knownGames())).map(([id, { winningReason: _, ...facts }]) => [id, facts] as const),
  );
  const body = `<div hidden>${sprite.slice(sprite.indexOf("<!--"))}</div>
${setupOf({ games })}`;
  return documentOf({ mode: "page", title: "Play in this league", body, script: league, style });
}

/** Returns the page for the address of a game that does not exist. */
export async function missingPage(): Promise<string> {
  const { style } = await bundle();
  const body = '<h1>No such game</h1><p>There is no game at this address. <a href="/">All games</a></p>';
  return documentOf({ mode: "page", title: "No such game", body, script: "", style });
}

const setupOf = (setup: BoardSetup | GamesSetup): string =>
  `<script type="application/json" id="setup">${jsonForScript(setup)}</script>`;

/** Returns JSON that cannot end its script element, whatever text it contains. */
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

/**
 * Returns the content security policy: everything is denied except the inlined parts. On a page of the server only the
 * bundled script may run. In the other modes the host may add a script to the document.
 */
function policyOf(mode: BoardMode, script: string): string {
  const scripts =
    mode === "page" ? `'sha256-${createHash("sha256").update(script).digest("base64")}'` : "'unsafe-inline'";
  const connect = mode === "page" ? "; connect-src 'self'" : "";
  return `default-src 'none'; script-src ${scripts}; style-src 'unsafe-inline'; img-src data:${connect}; base-uri 'none'; form-action 'none'`;
}
