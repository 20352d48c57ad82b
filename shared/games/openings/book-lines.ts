/** A line of a book. Its characters are the bytes of the file, as in Latin-1. */
interface BookLine {
  /** The offset of its first byte. */
  readonly start: number;
  /** Its number, from 1. */
  readonly number: number;
  readonly text: string;
}

/** A longer line is returned in parts, so that a file without line ends is not in memory as a whole. */
const MAX_LINE = 1_000_000;
/** A byte order mark in UTF-8, as Latin-1. */
const BYTE_ORDER_MARK = "\xEF\xBB\xBF";

/** Returns the lines of a file, which end with CR LF, LF or CR. A byte order mark is not part of the first line. */
export function* linesIn(pieces: Iterable<Uint8Array>): Generator<BookLine> {
  let [rest, start, number] = ["", 0, 1];
  for (const piece of pieces) {
    const text = rest + Buffer.from(piece.buffer, piece.byteOffset, piece.length).toString("latin1");
    let from = start === 0 && text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;
    const ends = /\r\n|\n|\r(?!$)/g;
    ends.lastIndex = from;
    for (let end = ends.exec(text); end; end = ends.exec(text)) {
      yield { start: start + from, number, text: text.slice(from, end.index) };
      number++;
      from = ends.lastIndex;
    }
    if (text.length - from > MAX_LINE) {
      yield { start: start + from, number, text: text.slice(from) };
      from = text.length;
    }
    rest = text.slice(from);
    start += from;
  }
  if (rest !== "") yield { start, number, text: rest.replace(/\r$/, "") };
}
