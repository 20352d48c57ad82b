import type { Readable } from "node:stream";

interface LineReader {
  line(text: string): void;
  /** A line of more than `maxBytes`, which is thrown away up to its end. */
  tooLong(): void;
  /** Nothing more will come. */
  end(): void;
}

const NEWLINE = 10;

/** Reads a stream as UTF-8 lines; keeps no more than one line of at most `maxBytes` in memory. Lines of white space are left out. */
export function readLines(input: Readable, maxBytes: number, reader: LineReader): void {
  let kept: Buffer[] = [];
  let size = 0;
  const finish = (): void => {
    const text = size > maxBytes ? null : Buffer.concat(kept).toString("utf8");
    kept = [];
    size = 0;
    if (text === null) reader.tooLong();
    else if (text.trim() !== "") reader.line(text);
  };
  const keep = (part: Buffer): void => {
    size += part.length;
    if (size <= maxBytes) kept.push(part);
    else kept = [];
  };
  let isOver = false;
  const end = (): void => {
    if (isOver) return;
    isOver = true;
    finish(); // a last line may lack its newline
    reader.end();
  };
  input.on("data", (chunk: Buffer) => {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      keep(chunk.subarray(from, at));
      finish();
      from = at + 1;
    }
    keep(chunk.subarray(from));
  });
  for (const event of ["end", "close", "error"]) input.on(event, end);
}
