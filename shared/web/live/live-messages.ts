/** A message of a page to the shared worker. A page that sends nothing for a while is regarded as closed. */
export type ToWorker = { readonly type: "open" | "close"; readonly path: string } | { readonly type: "ping" };

/** A message to a page about a live document. */
export type FromWorker =
  | { readonly type: "document"; readonly path: string; readonly json: string }
  | { readonly type: "connection"; readonly path: string; readonly isConnected: boolean };
