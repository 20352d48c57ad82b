/** Headers of a Server-Sent Events stream. nginx does not buffer it, and its end is the end of the connection. */
export const EVENT_STREAM_HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-store",
  "x-accel-buffering": "no",
  connection: "close",
};
