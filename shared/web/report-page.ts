import { createHash } from "node:crypto";
import { escapeHtml } from "../lib/text.ts";
import { bundle } from "./bundle.ts";
import { ICON, setupElement } from "./document-parts.ts";
import type { ReportSetup } from "./replay-view.ts";

interface Report {
  readonly title: string;
  /** The content as HTML. All data in it must be escaped. */
  readonly main: string;
  readonly setup: ReportSetup;
}

/**
 * Returns a function that makes a report: one self-contained HTML document that opens without a server. Its content security policy denies every
 * request, and every script and style except the two parts that are in the document.
 */
export async function reportPage(): Promise<(report: Report) => string> {
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
