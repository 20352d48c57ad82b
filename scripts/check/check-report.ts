import { styleText } from "node:util";
import { asText, counted, cutTo, escapeUnprintable, parsedJson } from "#shared/lib/text.ts";
import type { Finding } from "./check.ts";
import type { CheckResult, Outcome } from "./check-player.ts";
import type { Exchange } from "./exchange.ts";
import type { Subject } from "./subject.ts";

/** The document that `league check --json` prints. */
interface CheckDocument {
  /** The name of the player; null if it has not registered. */
  readonly player: string | null;
  readonly endpoint: string | null;
  readonly dialect: string | null;
  /** Whether no check has failed. */
  readonly passed: boolean;
  readonly checks: readonly object[];
}

export function documentOf(
  subject: Subject | null,
  results: readonly CheckResult[],
  secrets: readonly string[],
): CheckDocument {
  return {
    player: subject?.name ?? null,
    endpoint: subject?.endpoint ?? null,
    dialect: subject?.dialect ?? null,
    passed: results.every(({ outcome }) => outcome !== "fail"),
    checks: results.map(({ number, id, title, outcome, summary, findings, becauseOf, output }) => ({
      number,
      id,
      title,
      outcome,
      summary: hidden(summary, secrets),
      because_of: becauseOf,
      output: output.map((line) => hidden(line, secrets)),
      findings: findings.map(({ severity, summary, advice, exchanges }) => ({
        severity,
        summary: hidden(summary, secrets),
        advice: hidden(advice, secrets),
        exchanges: exchanges.map((exchange) => shownExchange(exchange, secrets)),
      })),
    })),
  };
}

const WORDS: Readonly<Record<Outcome, string>> = { pass: "pass", warn: "WARN", fail: "FAIL", skipped: "skip" };
const COLORS = { pass: "green", warn: "yellow", fail: "red", skipped: "dim" } as const;
const INDENT = " ".repeat(9);

/** Returns the lines about one check: its outcome and, for each finding, the exchange that shows it and how to fix it. */
export function linesOf(result: CheckResult, secrets: readonly string[]): readonly string[] {
  const { number, title, outcome, summary, findings, output } = result;
  const clean = (text: string): string => escapeUnprintable(hidden(text, secrets));
  const head = `${String(number).padStart(2)}  ${styleText(COLORS[outcome], WORDS[outcome])} ${title}`;
  if (findings.length === 0) return [`${head}: ${clean(summary)}`];
  const about = [
    ...findings.flatMap((finding) => findingLines(finding, clean, secrets)),
    ...output.map((line) => `the player has printed: ${clean(line)}`),
  ];
  return [head, ...about.map((line) => `${INDENT}${line}`)];
}

function findingLines(
  { summary, advice, exchanges }: Finding,
  clean: (text: string) => string,
  secrets: readonly string[],
): readonly string[] {
  const shown = exchanges
    .map((exchange) => shownExchange(exchange, secrets))
    .flatMap(({ from, request_line, request, reply_line, reply }) => [
      `${from === "check" ? "request" : "the player has sent"} ${request_line}`,
      ...(request === "" ? [] : [`  ${request}`]),
      `${from === "check" ? "reply" : "it was answered with"} ${reply_line}`,
      ...(reply === "" ? [] : [`  ${reply}`]),
    ]);
  return [clean(summary), ...shown, `To fix it: ${clean(advice)}`];
}

/** Returns the last line: how many checks have passed, failed and so on. */
export function closingLine(results: readonly CheckResult[]): string {
  const count = (outcome: Outcome): number => results.filter((result) => result.outcome === outcome).length;
  const parts = [
    `${counted(count("pass"), "check")} passed`,
    ...(count("warn") > 0 ? [counted(count("warn"), "warning")] : []),
    ...(count("fail") > 0 ? [`${count("fail")} failed`] : []),
    ...(count("skipped") > 0 ? [`${count("skipped")} skipped`] : []),
  ];
  return parts.join(", ");
}

/** An exchange for people: without secrets, and shortened. */
interface ShownExchange {
  readonly from: Exchange["from"];
  /** For example `POST http://127.0.0.1:8150/mcp`. */
  readonly request_line: string;
  readonly request: string;
  /** For example `200 application/json, 3 ms`, or the reason why there is no complete reply. */
  readonly reply_line: string;
  readonly reply: string;
}

const MAX_CHARACTERS = 1_200;
/** The longest list and string in a shown JSON text. */
const MAX_ITEMS = 6;
const MAX_STRING = 160;
const HIDDEN = "[hidden]";
const SECRET_FIELD = /token$|^(auth|authorization|secret|join_code)$/i;

/** Returns an exchange for people. `secrets` are texts that must not be shown wherever they appear. */
function shownExchange(exchange: Exchange, secrets: readonly string[]): ShownExchange {
  const { from, method, url, request, reply, fault, durationMs } = exchange;
  const type = reply?.contentType ? ` ${reply.contentType}` : "";
  const status = reply ? `${reply.status}${type}` : "no reply";
  return {
    from,
    request_line: `${method} ${url}`,
    request: shownBody(request, secrets),
    reply_line: hidden(`${status}${fault === null ? "" : ` (${fault})`}, ${durationMs} ms`, secrets),
    reply: shownBody(reply?.body ?? "", secrets),
  };
}

/** Returns a body without secrets, shortened. JSON remains JSON, and other text is cut. */
export function shownBody(body: string, secrets: readonly string[]): string {
  const value = parsedJson(body);
  const text = value === undefined ? hiddenInText(body) : JSON.stringify(shortened(value));
  return cutTo(MAX_CHARACTERS, escapeUnprintable(hidden(text, secrets)));
}

/** Hides the values of secret fields in text that is not JSON but may contain parts of it. */
const hiddenInText = (text: string): string =>
  text.replace(/((?:token|join_code)\\?["']\s*[:=]\s*\\?["'])[^"'\\]*/gi, `$1${HIDDEN}`);

/** Returns a text without secrets. */
const hidden = (text: string, secrets: readonly string[]): string =>
  secrets.filter((secret) => secret.length >= 8).reduce((shown, secret) => shown.replaceAll(secret, HIDDEN), text);

/** Returns a JSON value with short lists and strings and without the values of secret fields. JSON text in a string is shortened as JSON. */
function shortened(value: unknown, name = "", depth = 0): unknown {
  if (depth > 30) return "…";
  if (SECRET_FIELD.test(name) && value !== null) return HIDDEN;
  if (typeof value === "string") return shortenedText(value, depth);
  if (Array.isArray(value)) {
    const items = value.slice(0, MAX_ITEMS).map((item) => shortened(item, "", depth + 1));
    return value.length > MAX_ITEMS ? [...items, `… ${value.length - MAX_ITEMS} more`] : items;
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shortened(item, key, depth + 1)]));
}

function shortenedText(text: string, depth: number): string {
  const inner = /^\s*[{[]/.test(text) ? parsedJson(text) : undefined;
  if (inner !== undefined) return asText(JSON.stringify(shortened(inner, "", depth + 1)));
  return cutTo(MAX_STRING, hiddenInText(text));
}
