import { useEffect, useState } from "preact/hooks";
import { CONNECTION_LOST } from "../texts/status-texts.ts";
import { follow } from "./live-client.ts";
import { whileVisible } from "./while-visible.ts";

interface Live<T> {
  /** The last state of the document; null before the first. */
  readonly document: T | null;
  /** The fault of the connection, for people; empty if there is none. */
  readonly problem: string;
}

const GONE = "This page no longer exists at the server. It shows the last known state.";

/**
 * Returns a live document of the server: the state that the page contains, and then each later one. `path` is the path
 * of the document, `first` its state in the page. A hidden tab holds no stream.
 */
export function useDocument<T>(path: string, first: T | null): Live<T> {
  const [state, setState] = useState<{ readonly path: string; readonly document: T | null }>({ path, document: first });
  const [isConnected, setConnected] = useState(true);
  useEffect(
    () =>
      whileVisible(() =>
        follow(path, {
          onDocument: (json) => setState({ path, document: JSON.parse(json) as T }),
          onConnection: setConnected,
        }),
      ),
    [path],
  );
  const current = state.path === path ? state.document : null;
  const isGone = state.path === path && state.document === null && first !== null;
  return { document: current, problem: isGone ? GONE : isConnected ? "" : CONNECTION_LOST };
}
