/** Headers of a Server-Sent Events stream. They turn off the buffer of nginx and close the connection at the end of the stream. */
export const EVENT_STREAM_HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-store",
  "x-accel-buffering": "no",
  connection: "close",
};
