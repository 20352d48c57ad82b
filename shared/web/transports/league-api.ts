import type { JoinView, PlayView } from "#shared/web/play-documents.ts";
import { CONNECTION_LOST } from "#shared/web/texts/league-texts.ts";
import type { LeagueSeat } from "../texts/links.ts";
import { messageOf, UnansweredError } from "./transport.ts";

interface PlayUpdate {
  readonly view?: PlayView;
  /** The fault of the connection, for people; null if there is none. */
  readonly problem?: string | null;
}

const WAIT_S = 20;
/** A request that is not answered within this time has lost its connection. */
const SILENCE_MS = 30_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;

/** A failure that a repeated request would not change. */
class FinalError extends Error {}

/** Returns the leagues that a person can enter. */
export const openLeagues = (): Promise<JoinView> => post<JoinView>("leagues", {}, null);

/** Enters a person into a league, with a token of the person or a new one. Rejects with an `Error` whose message is for the person. */
export async function joinLeague(entry: object, token: string | null): Promise<LeagueSeat> {
  const joined = await post<{ player_id: string; player_token: string }>("join", entry, token);
  return { playerId: joined.player_id, token: joined.player_token };
}

/** Makes a move. Resolves with the new state. Rejects with an `Error` whose message is for the person. */
export const makeMove = ({ token }: LeagueSeat, match: string, move: unknown): Promise<PlayView> =>
  post<PlayView>("move", { match, move }, token);

/** Takes the person out of its leagues. */
export const leaveLeagues = ({ token }: LeagueSeat): Promise<unknown> => post("leave", {}, token);

/** Reports the state of a seat and each change until the returned function is called. */
export function followSeat({ token }: LeagueSeat, report: (update: PlayUpdate) => void): () => void {
  const stopped = new AbortController();
  const { signal } = stopped;
  const follow = async (): Promise<void> => {
    let version = -1;
    for (let pauseMs = FIRST_PAUSE_MS; !signal.aborted; ) {
      try {
        const limit = AbortSignal.any([signal, AbortSignal.timeout(SILENCE_MS)]);
        const view = await post<PlayView>("state", { version, wait_s: version < 0 ? 0 : WAIT_S }, token, limit);
        version = view.version;
        pauseMs = FIRST_PAUSE_MS;
        report({ view, problem: null });
        if (view.is_over) return; // nothing changes any more, and the manager of a run stops
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof FinalError) return report({ problem: error.message });
        report({ problem: CONNECTION_LOST });
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
        pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
        version = -1;
      }
    }
  };
  void follow();
  return () => stopped.abort();
}

async function post<T>(request: string, body: object, token: string | null, signal?: AbortSignal): Promise<T> {
  const headers = { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) };
  const init = { method: "POST", headers, body: JSON.stringify(body), ...(signal && { signal }) };
  const response = await fetch(`/play/api/${request}`, init).catch((error) => {
    throw signal?.aborted
      ? new Error(messageOf(error))
      : new UnansweredError("The league cannot be reached. Try again.");
  });
  const answer = (await response.json().catch(() => null)) as { error?: { message?: unknown } } | null;
  if (response.ok) return answer as T;
  const message = answer?.error?.message;
  const text = typeof message === "string" ? message : `The server answered with ${response.status}.`;
  throw response.status === 401 ? new FinalError(text) : new Error(text);
}
