import { styleText } from "node:util";

/** The width of the light border in modules. Scanners need a border. */
const BORDER = 2;

/**
 * Returns a QR code of a text as lines for a terminal, dark on light in every colour scheme. Returns no lines if the
 * stream is not a terminal or the terminal is too narrow.
 */
export async function qrCode(text: string, stream: NodeJS.WriteStream): Promise<readonly string[]> {
  if (!stream.isTTY) return [];
  const { encode, renderUnicodeCompact } = await import("uqr");
  if (encode(text, { border: BORDER }).size > (stream.columns || 80)) return [];
  const lines = renderUnicodeCompact(text, { border: BORDER, invert: true }).split("\n");
  return lines.map((line) => styleText(["black", "bgWhiteBright"], line, { stream, validateStream: false }));
}
