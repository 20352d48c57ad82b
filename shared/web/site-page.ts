import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { ErrorRequestHandler, Express, Request, Response } from "express";
import type { Game } from "../games/game.ts";
import { knownGames } from "../games/registry.ts";
import { escapeHtml, escapeUnprintable } from "../lib/text.ts";
import { assets } from "./assets.ts";
import { ICON, setupElement } from "./bundle.ts";
import { factsOf } from "./game-view.ts";
import { PAGE_FILES, type PageKind, type SiteSetup } from "./page-files.ts";
import { type SiteServers, siteLinks } from "./site-links.ts";

/** A page that its server serves. */
interface SitePage {
  readonly page: PageKind;
  /** The game of the page; absent for a page of several games, and if it is not known yet. */
  readonly game?: Pick<Game, "id" | "info"> | null | undefined;
  readonly title: string;
  /** The servers to which the header links. */
  readonly servers: SiteServers;
  /** Further data for the script of the page. */
  readonly setup?: object;
  /** The content without JavaScript, as HTML. The script replaces it. All data in it must be escaped. */
  readonly content?: string;
  /** The seconds after which a browser without JavaScript loads the page again; absent for a page that does not change. */
  readonly refreshS?: number;
}

/**
 * Returns a page as an HTML document that loads its script and its style from its server. Its content security policy
 * (`shared/runtime/agent-server.ts`) allows no inline script and no inline style. The script also receives the facts of the games.
 */
export async function sitePage({
  page,
  game,
  title,
  servers,
  setup,
  content = "",
  refreshS,
}: SitePage): Promise<string> {
  const { filesOf, worker, pieces } = await assets();
  const board = game ? (game.info.board ?? null) : undefined;
  const { main, modules, styles } = filesOf(page, board);
  const preloads = modules.map((path) => `<link rel="modulepreload" href="${path}">\n`).join("");
  const refresh = refreshS ? `<noscript><meta http-equiv="refresh" content="${refreshS}"></noscript>` : "";
  const shown = PAGE_FILES[page].hasBoard ? (board ?? null) : null;
  const known: SiteSetup = { page, board: shown, games: factsOf(game ? [game] : knownGames()) };
  return documentOf({
    title,
    styles,
    attributes: ` data-worker="${worker}" data-pieces="${pieces}"${serverAttributes(servers)}`,
    head: `<script type="module" src="${main}"></script>\n${preloads}${refresh}`,
    body: `<div id="root">${content}</div>\n${setupElement({ ...known, ...setup })}`,
  });
}

/** A link to a page. */
interface PageLink {
  readonly path: string;
  readonly text: string;
}

/** The attributes in which the header finds the servers. */
const serverAttributes = (servers: SiteServers): string =>
  Object.entries(servers)
    .map(([name, origin]) => (origin === null ? "" : ` data-${name}="${escapeHtml(origin)}"`))
    .join("");

/** Returns the header as HTML, for pages and readers without JavaScript. */
export function siteHeaderHtml(servers: SiteServers): string {
  const links = siteLinks(servers).map(({ href, text }) => `<a href="${escapeHtml(href)}">${text}</a>`);
  return `<header class="site-head"><nav aria-label="Site">${links.join("")}</nav></header>`;
}

/** Returns the page for an address at which nothing exists. `home` is the way back. The texts may contain parts of the address. */
export const missingPage = async (text: string, home: PageLink, servers: SiteServers): Promise<string> =>
  documentOf({
    title: "Not found",
    styles: [(await assets()).baseStyle],
    body: `<div class="site">${siteHeaderHtml(servers)}<main class="missing"><h1>Not found</h1><p>${escapeHtml(escapeUnprintable(text))}</p>
<p><a href="${escapeHtml(home.path)}">${escapeHtml(escapeUnprintable(home.text))}</a></p></main></div>`,
  });

interface HtmlDocument {
  readonly title: string;
  /** The paths of its styles. */
  readonly styles: readonly string[];
  readonly attributes?: string;
  readonly head?: string;
  readonly body: string;
}

function documentOf({ title, styles, attributes = "", head = "", body }: HtmlDocument): string {
  const links = styles.map((path) => `<link rel="stylesheet" href="${path}">\n`).join("");
  return `<!doctype html>
<html lang="en"${attributes}><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="${ICON}">
${links}${head}</head>
<body class="page">${body}</body></html>
`;
}

/** Sends a page. Pages are not cached, because they contain current data. */
export const sendPage = (response: Response, html: string): Promise<void> => sendText(response, "html", html);

/** Sends a document of a page as JSON. */
export const sendJson = (response: Response, document: object): Promise<void> =>
  sendText(response, "json", JSON.stringify(document));

/** A shorter text is sent in one packet anyway. */
const COMPRESSED_CHARACTERS = 1_400;

async function sendText(response: Response, type: "html" | "json", text: string): Promise<void> {
  response.set("cache-control", "no-store").vary("accept-encoding").type(type);
  const isCompressed = text.length > COMPRESSED_CHARACTERS && response.req.acceptsEncodings("gzip");
  if (isCompressed) response.set("content-encoding", "gzip").send(await compressed(text));
  else response.send(text);
}

const compressed = promisify<string, Buffer>(gzip);

/** Answers requests of browsers for pages that do not exist, and for addresses that cannot be decoded, with a page. Other requests are passed on. */
export const missingPages =
  (home: PageLink, serversFor: (request: Request) => SiteServers) =>
  (app: Express): void => {
    const answer = async (request: Request, response: Response, text: string): Promise<void> =>
      sendPage(response, await missingPage(text, home, serversFor(request)));
    app.use(async (request, response, next) => {
      if (!isForPage(request)) return next();
      await answer(request, response.status(404), "There is no page at this address.");
    });
    const answerMalformed: ErrorRequestHandler = async (thrown, request, response, next) => {
      if (!(thrown instanceof URIError) || !isForPage(request)) return next(thrown);
      await answer(request, response.status(400), "This address cannot be read. It may have been copied incompletely.");
    };
    app.use(answerMalformed);
  };

const isForPage = (request: Request): boolean =>
  request.method === "GET" && request.accepts(["json", "html"]) === "html";
