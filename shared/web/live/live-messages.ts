/**
 * A message of a page to the shared worker: the paths of all documents that the page follows. A page repeats it, so that the worker knows that the page
 * is open; the worker regards a silent page as closed.
 */
export interface ToWorker {
  readonly paths: readonly string[];
}

/** A message to a page about a live document. `json` is "null" for a document that no longer exists. */
export type FromWorker =
  | { readonly type: "document"; readonly path: string; readonly json: string }
  | { readonly type: "connection"; readonly path: string; readonly isConnected: boolean };
