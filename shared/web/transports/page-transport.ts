import type { GameView } from "#shared/web/game-view.ts";
import type { HistoryDocument, InvitationsDocument, RematchDocument } from "#shared/web/play-documents.ts";
import { CONNECTION_LOST } from "#shared/web/texts/league-texts.ts";
import { pathOf } from "#shared/web/texts/links.ts";
import { releaseStream, requestStream, whileVisible } from "./live-client.ts";
import { saveGame } from "./saved-games.ts";
import { eventsOf } from "./sse.ts";
import {
  FinalError,
  failureOf,
  type GameRoom,
  type GameUpdate,
  isGameView,
  type Transport,
  UnavailableError,
  unreachable,
} from "./transport.ts";

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;
/** The server sends at least a comment every 15 s. After this time without data the connection is regarded as lost. */
const SILENCE_MS = 45_000;

/** Shown for a link that is incomplete or belongs to another game. */
const NO_SEAT =
  "This link does not contain a seat in this game. You are watching. Copy the whole link, including the part after the #, or ask the person who sent it for a new one.";

/**
 * The transport of a page of the session host, over HTTP: moves are posted, and the game is received as an event
 * stream, or repeatedly while too many pages of the browser have streams. Without a token the person watches.
 */
export function pageTransport(gameId: string, token: string): Transport {
  const path = `/api/games/${encodeURIComponent(gameId)}`;
  const headers: Record<string, string> = token === "" ? {} : { authorization: `Bearer ${token}` };
  let notify: (update: GameUpdate) => void = () => {};
  let hasGame = false;
  /** Whether the document was sent while its game was not loaded, so that it has no facts of the game, such as its board. */
  let lacksFacts = false;

  const follow = async (signal: AbortSignal): Promise<void> => {
    for (let pauseMs = FIRST_PAUSE_MS; !signal.aborted; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      const show = (game: GameView): void => {
        if (lacksFacts) {
          location.reload();
          return;
        }
        hasGame = true;
        pauseMs = FIRST_PAUSE_MS;
        saveGame(game, token);
        notify({ game, problem: token !== "" && game.your_role === "spectator" ? NO_SEAT : null });
      };
      try {
        if (await watch(signal, show)) return;
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof FinalError) return notify({ problem: error.message });
        const isUnavailable = error instanceof UnavailableError;
        lacksFacts ||= isUnavailable && !hasGame;
        notify({ problem: isUnavailable ? `${error.message}. This page tries again.` : CONNECTION_LOST });
      }
      await pause(pauseMs, signal);
    }
  };

  /** Shows the game, once or until its stream ends. Returns true when the game is over. */
  const watch = async (signal: AbortSignal, show: (game: GameView) => void): Promise<boolean> => {
    // Firefox lets a request wait for another one of the same address that may be cached, for example for the stream of another tab.
    const request = { headers, cache: "no-store" } as const;
    const current = await gameIn(await fetch(path, { ...request, signal }));
    show(current);
    if (current.status === "completed") return true;
    if (!(await requestStream()) || signal.aborted) return false;
    for await (const game of streamed(path, { ...request, signal })) {
      show(game);
      if (game.status === "completed") return true;
    }
    return false;
  };

  const post = async (turn: object): Promise<string> => {
    const body = JSON.stringify(turn);
    const request = { method: "POST", headers: { ...headers, "content-type": "application/json" }, body };
    const answer = await fetch(`${path}/moves`, request).catch(() => {
      throw unreachable();
    });
    const game = await gameIn(answer);
    saveGame(game, token);
    notify({ game });
    return "";
  };
  return {
    open(listener) {
      notify = listener;
      return started(follow);
    },
    roleIn: ({ your_role }) => (token === "" ? "spectator" : your_role),
    play: (game, move, claim) => post({ move, ...(claim && { claim }), expected_tick: game.tick }),
    resign: () => post({ resign: true }),
    room: gameRoom(path, headers),
  };
}

/** Yields the states of a game that its stream sends. */
async function* streamed(
  path: string,
  request: RequestInit & { readonly signal: AbortSignal },
): AsyncGenerator<GameView> {
  const silence = new AbortController();
  const signal = AbortSignal.any([request.signal, silence.signal]);
  const stream = await fetch(`${path}/events`, { ...request, signal });
  if (!stream.ok || !stream.body) throw await failureOf(stream);
  for await (const { event, data } of eventsOf(watchdog(stream.body, () => silence.abort()))) {
    const game: unknown = event === "game" ? JSON.parse(data) : null;
    if (isGameView(game)) yield game;
  }
}

/** Follows a game while the tab is visible. Returns a function that ends this. */
function started(follow: (signal: AbortSignal) => Promise<void>): () => void {
  const start = (): (() => void) => {
    const running = new AbortController();
    void follow(running.signal).finally(() => running.signal.aborted || releaseStream());
    return () => {
      running.abort();
      releaseStream();
    };
  };
  const ends = [whileVisible(start), reloadForOtherSeat()];
  return () => {
    for (const end of ends) end();
  };
}

/** Loads the page again when its address has another seat, which differs in the fragment only. Returns a function that ends this. */
function reloadForOtherSeat(): () => void {
  const reload = (): void => location.reload();
  addEventListener("hashchange", reload);
  return () => removeEventListener("hashchange", reload);
}

async function gameIn(response: Response): Promise<GameView> {
  if (!response.ok) throw await failureOf(response);
  const game: unknown = await response.json();
  if (!isGameView(game)) throw new Error("The server's answer is not a game.");
  return game;
}

/** Returns the stream. Calls `onSilence` if no data arrives for too long. */
function watchdog(body: ReadableStream<Uint8Array>, onSilence: () => void): ReadableStream<Uint8Array> {
  let timer = setTimeout(onSilence, SILENCE_MS);
  const stop = (): void => clearTimeout(timer);
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        stop();
        timer = setTimeout(onSilence, SILENCE_MS);
        controller.enqueue(chunk);
      },
      flush: stop,
    }),
  );
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });

/** The routes of a game at the session host. `headers` contain the token of the person's seat, if the page has one. */
function gameRoom(path: string, headers: Readonly<Record<string, string>>): GameRoom {
  const read = async <T>(part: string, init: RequestInit = { headers }): Promise<T> => {
    const response = await fetch(`${path}/${part}`, init).catch(() => {
      throw unreachable();
    });
    if (!response.ok) throw await failureOf(response);
    return (await response.json()) as T;
  };
  const posting = (body: object) => ({
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return {
    hasToken: "authorization" in headers,
    history: (_, from) => read<HistoryDocument>(`history?from=${from}`),
    invitations: () => read<InvitationsDocument>("invitations"),
    setName: async (_, name) => {
      await read("name", posting({ name }));
    },
    rematch: async () => pathIn(await read<RematchDocument>("rematch")),
    startRematch: async () => pathIn(await read<RematchDocument>("rematch", posting({}))),
  };
}

const pathIn = ({ link }: RematchDocument): string | null => (link === null ? null : pathOf(link));
