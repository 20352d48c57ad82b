/** Headers of a Server-Sent Events stream. nginx does not buffer it, and its end is the end of the connection. */
export const EVENT_STREAM_HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-store",
  "x-accel-buffering": "no",
  connection: "close",
};

/**
 * The data of each event of a Server-Sent Events stream (WHATWG HTML, section 9.2). Names, ids and retry times are left out; an event
 * of more than `maxLength` characters throws.
 */
export async function* eventData(body: AsyncIterable<Buffer>, maxLength: number): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  let data: string[] = [];
  let length = 0;
  for await (const chunk of body) {
    const piece = decoder.decode(chunk, { stream: true });
    rest += piece;
    if (rest.length + length > maxLength) throw new Error(`an event of more than ${maxLength} characters`);
    if (!piece.includes("\n")) continue;
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines.map(withoutReturn)) {
      if (line.startsWith("data:")) {
        data.push(line.slice(line[5] === " " ? 6 : 5));
        length += line.length;
      } else if (line === "" && data.length > 0) {
        yield data.join("\n");
        data = [];
        length = 0;
      }
    }
  }
}

const withoutReturn = (line: string): string => (line.endsWith("\r") ? line.slice(0, -1) : line);
