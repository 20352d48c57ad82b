import { knownGames } from "../games/registry.ts";
import { escapeHtml } from "../lib/text.ts";
import { bundle } from "./bundle.ts";
import { setupElement } from "./document-parts.ts";
import { factsOf } from "./game-facts.ts";
import type { BoardMode, BoardSetup, GameView, Seat } from "./game-view.ts";

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
