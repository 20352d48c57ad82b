import type { Readable } from "node:stream";

interface LineReader {
  /** Called with each line, without its newline. */
  line(text: string): void;
  /** Called for a line of more than `maxBytes`, which is discarded. */
  tooLong(): void;
  /** Called once, after the last line. */
  end(): void;
}

const NEWLINE = 10;

/** Reads a stream as UTF-8 lines. Keeps at most one line of `maxBytes` in memory. Blank lines are skipped. */
export function readLines(input: Readable, maxBytes: number, reader: LineReader): void {
  let parts: Buffer[] = [];
  let size = 0;
  const finish = (): void => {
    const [part] = parts;
    const whole = part && parts.length === 1 ? part : Buffer.concat(parts);
    const text = size > maxBytes ? null : whole.toString("utf8");
    parts = [];
    size = 0;
    if (text === null) reader.tooLong();
    else if (text.trim() !== "") reader.line(text);
  };
  const add = (part: Buffer): void => {
    size += part.length;
    if (size <= maxBytes) parts.push(part);
    else parts = [];
  };
  let hasEnded = false;
  const end = (): void => {
    if (hasEnded) return;
    hasEnded = true;
    finish(); // the last line may have no newline
    reader.end();
  };
  input.on("data", (chunk: Buffer) => {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      add(chunk.subarray(from, at));
      finish();
      from = at + 1;
    }
    add(chunk.subarray(from));
  });
  for (const event of ["end", "close", "error"]) input.on(event, end);
}
