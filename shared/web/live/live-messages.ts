/**
 * A message of a page to the shared worker: the paths of all documents that the page follows. A page repeats it, so that the worker knows that the page
 * is open; the worker regards a silent page as closed.
 */
export interface ToWorker {
  readonly paths: readonly string[];
  /** Whether the page wants to open a stream itself: the stream of a game, which needs the token of a seat. */
  readonly wantsStream: boolean;
}

/** A message about a live document. `json` is "null" for a document that no longer exists. */
export type DocumentMessage =
  | { readonly type: "document"; readonly path: string; readonly json: string }
  | { readonly type: "connection"; readonly path: string; readonly isConnected: boolean };

/** A message to a page: about a live document, or whether the page may open a stream itself. */
export type FromWorker = DocumentMessage | { readonly type: "stream"; readonly isAllowed: boolean };
