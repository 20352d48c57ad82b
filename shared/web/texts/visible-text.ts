import { escapeUnprintable } from "../../lib/text.ts";

/** Returns an untrusted text with its line breaks, and with all other control and direction characters as escapes. */
export const visibleText = (text: string): string => text.split("\n").map(escapeUnprintable).join("\n");

/** Returns a time for people: "8 ms", "1.3 s", "2 min 5 s". */
export function durationInWords(ms: number): string {
  if (ms < 1_000) return `${ms} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
