/** The texts that each viewer of a game of a session host receives at each surface, before, while and after information is hidden. */
import { type Era, eras } from "../../../referee/codenames/testing/host.ts";
import { twoSeats } from "../../../referee/play/testing/play.ts";
import {
  type Place,
  REQUEST_SURFACES,
  type RequestSurface,
  STREAM_SURFACES,
  type Stream,
} from "../../../referee/play/testing/surfaces.ts";
import type { TestHost } from "../../../referee/rest/testing/host.ts";
import type { Game } from "./host-games.ts";
import { NOTIFICATIONS, subscribe } from "./subscriptions.ts";
import type { Reading, Readings, SurfaceFacts } from "./table.ts";

/** The viewers without a seat. */
export const OTHERS = ["another agent", "a made-up token", "no token"] as const;

/** The answers to the calls of a seat: the request that took the seat, and its moves. */
const SEAT_ANSWERS = "answers to the calls of the seat";

/** The surfaces of a session host, in the order of the table. */
export const HOST_SURFACES: Readonly<Record<string, SurfaceFacts>> = {
  ...REQUEST_SURFACES,
  ...STREAM_SURFACES,
  ...Object.fromEntries(Object.values(NOTIFICATIONS).map((name) => [name, { readers: "public", shows: [] }])),
  [SEAT_ANSWERS]: { readers: "none", shows: ["choice", "card", "key"] },
};

type Cells = Map<string, Map<string, Reading>>;

/** The token of each viewer; null for a caller without a token. */
type Tokens = ReadonlyMap<string, string | null>;

/** Plays a game, and reads it as each of its viewers. */
export async function readAll(host: TestHost, game: Game, agentToken: string): Promise<Readings> {
  const tokens: Tokens = new Map<string, string | null>([
    ...Object.entries(game.tokens),
    ...[agentToken, "made-up", null].map((token, at) => [OTHERS[at] ?? "", token] as const),
  ]);
  const cells: Cells = new Map([...tokens.keys()].map((viewer) => [viewer, new Map()]));
  const streams = await openStreams(host, game.gameId, tokens, "before");
  const listeners = await openSubscriptions(host, game, tokens);
  const before = { requests: await readRequests(host, game, tokens), notifications: await listeners.drain() };
  const answers = { ...game.seatAnswers };
  const hidingMove = await game.hide();
  if (hidingMove) answers[hidingMove.role] += `\n${hidingMove.answer}`;
  const hidden = { requests: await readRequests(host, game, tokens), notifications: await listeners.drain() };
  streams.push(...(await openStreams(host, game.gameId, tokens, "sealed")));
  const closed = await game.close();
  if (closed.tick !== Number.POSITIVE_INFINITY) await listeners.notified();
  const after = { requests: await readRequests(host, game, tokens), notifications: await listeners.drain() };

  for (const viewer of tokens.keys()) {
    const readings = cells.get(viewer);
    for (const name of Object.keys(REQUEST_SURFACES)) {
      const at = ({ requests }: { requests: Texts }) => requests.get(viewer)?.get(name) ?? "";
      readings?.set(name, { before: at(before), hidden: at(hidden), after: at(after) });
    }
    for (const era of eras) {
      const at = ({ notifications }: { notifications: Texts }) => notifications.get(viewer)?.get(era) ?? "";
      readings?.set(NOTIFICATIONS[era], { before: at(before), hidden: at(hidden), after: at(after) });
    }
    const closingAnswer = viewer === closed.role ? closed.answer : "";
    readings?.set(SEAT_ANSWERS, { before: null, hidden: answers[viewer] ?? "", after: closingAnswer });
  }
  for (const { viewer, name, stream } of streams) cells.get(viewer)?.set(name, await untilTick(stream, closed.tick));
  await listeners.close();
  return cells;
}

/** The texts that each viewer received, by viewer and surface or era. */
type Texts = ReadonlyMap<string, ReadonlyMap<string, string>>;

const ofEach = async <T>(tokens: Tokens, read: (viewer: string, token: string | null) => Promise<T>) =>
  new Map(await Promise.all([...tokens].map(async ([viewer, token]) => [viewer, await read(viewer, token)] as const)));

const readRequests = (host: Place, { gameId }: Game, tokens: Tokens): Promise<Texts> =>
  ofEach(tokens, (_viewer, token) => textsOf(REQUEST_SURFACES, host, gameId, token));

/** Reads surfaces sequentially, because a game limits the concurrent requests of each agent. Resolves with the texts by surface. */
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

interface OpenStream {
  readonly viewer: string;
  readonly name: string;
  readonly stream: Stream;
}

/** Opens the event streams of a game for each viewer. Streams that are opened before the choice have sent their first event. */
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

/** Resolves with the text that a stream sent before the event of this tick, and with the text from that event on. A rejected stream has only its answer. */
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
 * Subscribes each viewer to a game, with a client of each era. `drain` makes a move in another game and waits until each client is notified of it,
 * because this notification arrives after all notifications of the game.
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
    /** Resolves with the bytes that the clients have received since the last call. */
    async drain(): Promise<Texts> {
      await seats[moves.length % 2 === 1 ? 0 : 1].move(moves.shift());
      return new Map(
        await Promise.all(
          [...clients].map(async ([viewer, byEra]) => {
            for (const client of byEra.values()) await client.notified(uriOf(otherId));
            return [viewer, new Map([...byEra].map(([era, client]) => [era, client.drain()]))] as const;
          }),
        ),
      );
    },
    async close(): Promise<void> {
      for (const byEra of clients.values()) for (const client of byEra.values()) await client.close();
    },
  };
}
