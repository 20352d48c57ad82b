/** What each viewer of a game of a session host receives at each surface before, while and after something is hidden. */
import { type Era, eras } from "../../../referee/codenames/testing/host.ts";
import { twoSeats, type watchStream } from "../../../referee/play/testing/play.ts";
import {
  type Place,
  REQUEST_SURFACES,
  type RequestSurface,
  STREAM_SURFACES,
} from "../../../referee/play/testing/surfaces.ts";
import type { TestHost } from "../../../referee/rest/testing/host.ts";
import type { Game } from "./host-games.ts";
import { NOTIFICATIONS, subscribe } from "./subscriptions.ts";
import type { Reading, Readings, SurfaceFacts } from "./table.ts";

/** The viewers without a seat. */
export const OTHERS = ["another agent", "a made-up token", "no token"] as const;

/** The answers to a seat's own calls: the one with which the seat was given out, and those to its moves. */
const OWN_ANSWERS = "answers to its own calls";

/** The surfaces of a session host, in the order of the table. */
export const HOST_SURFACES: Readonly<Record<string, SurfaceFacts>> = {
  ...REQUEST_SURFACES,
  ...STREAM_SURFACES,
  ...Object.fromEntries(Object.values(NOTIFICATIONS).map((name) => [name, { readers: "public", shows: [] }])),
  [OWN_ANSWERS]: { readers: "none", shows: ["choice", "card", "key"] },
};

type Cells = Map<string, Map<string, Reading>>;

/** The token of each viewer; null for a caller without one. */
type Tokens = ReadonlyMap<string, string | null>;

/** Plays a game and reads it as all its viewers. */
export async function readAll(host: TestHost, game: Game, agentToken: string): Promise<Readings> {
  const tokens: Tokens = new Map<string, string | null>([
    ...Object.entries(game.tokens),
    ...[agentToken, "made-up", null].map((token, at) => [OTHERS[at] ?? "", token] as const),
  ]);
  const cells: Cells = new Map([...tokens.keys()].map((viewer) => [viewer, new Map()]));
  const streams = await openStreams(host, game.gameId, tokens, "before");
  const listeners = await openSubscriptions(host, game, tokens);
  const before = { requests: await readRequests(host, game, tokens), notified: await listeners.taken() };
  const answers = { ...game.told };
  const made = await game.hide();
  if (made) answers[made.role] += `\n${made.answer}`;
  const hidden = { requests: await readRequests(host, game, tokens), notified: await listeners.taken() };
  streams.push(...(await openStreams(host, game.gameId, tokens, "sealed")));
  const closed = await game.close();
  if (closed.tick !== Number.POSITIVE_INFINITY) await listeners.notified();
  const after = { requests: await readRequests(host, game, tokens), notified: await listeners.taken() };

  for (const viewer of tokens.keys()) {
    const own = cells.get(viewer);
    for (const name of Object.keys(REQUEST_SURFACES)) {
      const at = ({ requests }: { requests: Texts }) => requests.get(viewer)?.get(name) ?? "";
      own?.set(name, { before: at(before), hidden: at(hidden), after: at(after) });
    }
    for (const era of eras) {
      const at = ({ notified }: { notified: Texts }) => notified.get(viewer)?.get(era) ?? "";
      own?.set(NOTIFICATIONS[era], { before: at(before), hidden: at(hidden), after: at(after) });
    }
    const told = answers[viewer] ?? "";
    own?.set(OWN_ANSWERS, { before: null, hidden: told, after: viewer === closed.role ? closed.answer : "" });
  }
  for (const { viewer, name, stream } of streams) cells.get(viewer)?.set(name, await untilTick(stream, closed.tick));
  await listeners.close();
  return cells;
}

/** What each viewer received, by viewer and surface or era. */
type Texts = ReadonlyMap<string, ReadonlyMap<string, string>>;

const ofEach = async <T>(tokens: Tokens, read: (viewer: string, token: string | null) => Promise<T>) =>
  new Map(await Promise.all([...tokens].map(async ([viewer, token]) => [viewer, await read(viewer, token)] as const)));

const readRequests = (host: Place, { gameId }: Game, tokens: Tokens): Promise<Texts> =>
  ofEach(tokens, (_viewer, token) => textsOf(REQUEST_SURFACES, host, gameId, token));

/** One request after the other: a game has a limit of requests at a time for each agent. */
export async function textsOf(
  surfaces: Readonly<Record<string, Pick<RequestSurface, "read">>>,
  place: Place,
  gameId: string,
  token: string | null,
): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  for (const [name, { read }] of Object.entries(surfaces)) texts.set(name, await read(place, gameId, token));
  return texts;
}

type Stream = Awaited<ReturnType<typeof watchStream>>;

interface OpenStream {
  readonly viewer: string;
  readonly name: string;
  readonly stream: Stream;
}

/** Opens the streams of events of a game for each viewer. Those that are opened before have sent their first event. */
export async function openStreams(
  place: Place,
  gameId: string,
  tokens: Tokens,
  when: "before" | "sealed",
): Promise<OpenStream[]> {
  const streams: OpenStream[] = [];
  await ofEach(tokens, async (viewer, token) => {
    for (const [name, surface] of Object.entries(STREAM_SURFACES).filter(([, { opened }]) => opened === when)) {
      const stream = await surface.open(place, gameId, token);
      if (when === "before") await stream.next();
      streams.push({ viewer, name, stream });
    }
  });
  return streams;
}

/** What a stream sent before the event of this tick, and that event. A rejected stream has only its answer. */
export async function untilTick(stream: Stream, tick: number): Promise<Reading> {
  for (let event = await stream.next(); event && Number(event.id) < tick; ) event = await stream.next();
  stream.close();
  const heartbeat = /^:/;
  const frames = stream
    .raw()
    .split("\n\n")
    .filter((frame) => !heartbeat.test(frame));
  const idOf = (frame: string): number => Number(/^id: (\d+)$/m.exec(frame)?.[1] ?? -1);
  const hidden = frames.filter((frame) => idOf(frame) < tick).join("\n\n");
  return { before: null, hidden, after: frames.filter((frame) => idOf(frame) >= tick).join("\n\n") };
}

/**
 * Subscribes each viewer to a game, with a client of each era. `taken` waits until each client is notified of a move in another game, which would arrive
 * after a notification of this game.
 */
async function openSubscriptions(host: Place, { gameId }: Game, tokens: Tokens) {
  const seats = await twoSeats(host, "tic_tac_toe");
  const [{ gameId: otherId }] = seats;
  const moves = ["a1", "b2", "c3"];
  const uriOf = (id: string): string => `game://state/${id}`;
  const uris = [gameId, otherId].map(uriOf);
  const open = (token: string | null) =>
    Promise.all(eras.map(async (era) => [era, await subscribe(host.url, era, uris, token)] as const));
  const clients = await ofEach(
    tokens,
    async (_viewer, token) => new Map<Era, Awaited<ReturnType<typeof subscribe>>>(await open(token)),
  );
  return {
    /** Resolves when each client has been notified of the game. */
    async notified(): Promise<void> {
      for (const byEra of clients.values()) for (const client of byEra.values()) await client.notified(uriOf(gameId));
    },
    async taken(): Promise<Texts> {
      await seats[moves.length % 2 === 1 ? 0 : 1].move(moves.shift());
      return new Map(
        await Promise.all(
          [...clients].map(async ([viewer, byEra]) => {
            for (const client of byEra.values()) await client.notified(uriOf(otherId));
            return [viewer, new Map([...byEra].map(([era, client]) => [era, client.taken()]))] as const;
          }),
        ),
      );
    },
    async close(): Promise<void> {
      for (const byEra of clients.values()) for (const client of byEra.values()) await client.close();
    },
  };
}
