import { stripVTControlCharacters } from "node:util";
import { encode } from "uqr";
import { describe, expect, it } from "vitest";
import { qrCode } from "./qr-code.ts";

const URL_OF_PAGE = "http://192.168.1.7:8000/";
const terminal = (columns: number) => ({ isTTY: true, columns }) as NodeJS.WriteStream;

/** Returns which modules are dark. Each character shows two modules, one above the other. */
const modulesOf = (lines: readonly string[]): boolean[][] =>
  lines.flatMap((line) => {
    const characters = [...stripVTControlCharacters(line)];
    return [
      characters.map((shown) => shown === "█" || shown === "▀"),
      characters.map((shown) => shown === "█" || shown === "▄"),
    ];
  });

describe("a QR code", () => {
  it("shows the text in black on white, with a light border", async () => {
    const lines = await qrCode(URL_OF_PAGE, terminal(80));
    for (const line of lines) expect(line.startsWith("\u001b[30m\u001b[107m")).toBe(true);
    const { data, size } = encode(URL_OF_PAGE, { border: 2 });
    expect(modulesOf(lines).slice(0, size)).toEqual(data);
    expect(data[0]).toEqual(Array(size).fill(false));
  });

  it("is empty without a terminal and in a terminal that is too narrow", async () => {
    expect(await qrCode(URL_OF_PAGE, { isTTY: false } as NodeJS.WriteStream)).toEqual([]);
    expect(await qrCode(URL_OF_PAGE, terminal(20))).toEqual([]);
  });
});
