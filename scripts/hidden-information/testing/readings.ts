/** What each viewer of a game receives at each surface before, while and after something is hidden. */
import { connectHost } from "../../../referee/codenames/testing/host.ts";
import type { watchStream } from "../../../referee/play/testing/play.ts";
import { REQUEST_SURFACES, STREAM_SURFACES } from "../../../referee/play/testing/surfaces.ts";
import type { TestHost } from "../../../referee/rest/testing/host.ts";
import type { World } from "./scenes.ts";

/** The viewers without a seat. */
export const OTHERS = ["another agent", "a made-up token", "no token"] as const;

/** What one viewer received at one surface. A stream has nothing before. */
export interface Reading {
  readonly before: string | null;
  readonly hidden: string;
  readonly after: string;
}
/** By viewer and surface. */
export type Readings = ReadonlyMap<string, ReadonlyMap<string, Reading>>;

type Stream = Awaited<ReturnType<typeof watchStream>>;

/** The names of all surfaces, in the order of the table. */
export const SURFACES = [...Object.keys(REQUEST_SURFACES), ...Object.keys(STREAM_SURFACES), "MCP notification", "seat"];

export async function readAll(host: TestHost, world: World, agentToken: string): Promise<Readings> {
  const viewers = new Map<string, string | null>([
    ...Object.entries(world.tokens),
    ...[agentToken, "made-up", null].map((token, at) => [OTHERS[at] ?? "", token] as const),
  ]);
  const readings = new Map([...viewers.keys()].map((viewer) => [viewer, new Map<string, Reading>()]));
  const eachViewer = <T>(read: (viewer: string, token: string | null) => Promise<T>): Promise<T[]> =>
    Promise.all([...viewers].map(([viewer, token]) => read(viewer, token)));
  const requests = () => eachViewer(async (viewer, token) => [viewer, await readRequests(host, world, token)] as const);
  const open = (when: "before" | "sealed") =>
    eachViewer(async (viewer, token) => {
      for (const [name, surface] of Object.entries(STREAM_SURFACES).filter(([, { opened }]) => opened === when)) {
        const stream = await surface.open(host, world.gameId, token);
        if (when === "before") await stream.next();
        streams.push({ viewer, name, stream });
      }
    });

  const streams: { viewer: string; name: string; stream: Stream }[] = [];
  await open("before");
  const subscribed = await eachViewer((viewer, token) => subscribe(host, world, viewer, token));
  const before = new Map(await requests());
  await world.hide();
  const hidden = new Map(await requests());
  await open("sealed");
  const closedTick = await world.close();
  const after = new Map(await requests());

  for (const [viewer, token] of viewers) {
    const cells = readings.get(viewer);
    for (const name of Object.keys(REQUEST_SURFACES)) {
      const at = (texts: ReadonlyMap<string, ReadonlyMap<string, string>>) => texts.get(viewer)?.get(name) ?? "";
      cells?.set(name, { before: at(before), hidden: at(hidden), after: at(after) });
    }
    const told = token === null ? "" : (world.told[viewer] ?? "");
    cells?.set("seat", { before: null, hidden: told, after: told });
  }
  for (const { viewer, name, stream } of streams) readings.get(viewer)?.set(name, await untilTick(stream, closedTick));
  for (const { viewer, received } of subscribed) readings.get(viewer)?.set("MCP notification", await received());
  return readings;
}

/** One request after the other: a game has a limit of requests at a time for each agent. */
async function readRequests(host: TestHost, { gameId }: World, token: string | null): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  for (const [name, { read }] of Object.entries(REQUEST_SURFACES)) texts.set(name, await read(host, gameId, token));
  return texts;
}

/** What a stream sent before the event of this tick, and that event. A rejected stream has only its answer. */
async function untilTick(stream: Stream, tick: number): Promise<Reading> {
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

/** An MCP session that is subscribed to the game's state: every byte that it received by the first notification after the turn. */
async function subscribe(host: TestHost, { gameId }: World, viewer: string, token: string | null) {
  const uri = `game://state/${gameId}`;
  const bytes: string[] = [];
  const updated = Promise.withResolvers<void>();
  const listening: typeof fetch = async (to, init) => {
    const response = await fetch(to, init);
    if (!response.body) return response;
    const [mine, theirs] = response.body.tee();
    const decoder = new TextDecoder();
    void mine
      .pipeTo(new WritableStream({ write: (chunk) => void bytes.push(decoder.decode(chunk, { stream: true })) }))
      .catch(() => {}); // the client has closed the connection
    return new Response(theirs, response);
  };
  const options = { fetch: listening, ...(token !== null && { bearer: token }) };
  const client = await connectHost(`${host.url}/mcp`, "session", null, options);
  await client.subscribe([uri], (changed) => void (changed === uri && updated.resolve()));
  bytes.length = 0;
  const received = async (): Promise<Reading> => {
    await updated.promise;
    await client.close();
    const text = bytes.join("");
    return { before: null, hidden: text, after: text };
  };
  return { viewer, received };
}
