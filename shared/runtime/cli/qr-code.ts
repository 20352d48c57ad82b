import { styleText } from "node:util";

/** Light modules around the code, which scanners need. */
const BORDER = 2;

/**
 * A QR code of a text as lines for a terminal, dark on light whatever the terminal's colours are. Empty unless the stream is a terminal
 * with room for it.
 */
export async function qrCode(text: string, stream: NodeJS.WriteStream): Promise<readonly string[]> {
  if (!stream.isTTY) return [];
  const { encode, renderUnicodeCompact } = await import("uqr");
  if (encode(text, { border: BORDER }).size > (stream.columns || 80)) return [];
  const lines = renderUnicodeCompact(text, { border: BORDER, invert: true }).split("\n");
  return lines.map((line) => styleText(["black", "bgWhiteBright"], line, { stream, validateStream: false }));
}
