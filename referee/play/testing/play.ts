/** What the tests of games share: the tools as a bare client calls them, and a page's event stream. */
import { expect } from "vitest";
import type { TestHost } from "../../rest/testing/host.ts";

// biome-ignore lint/suspicious/noExplicitAny: whatever came over the wire is checked by the tests
export type Wire = any;

export interface Told {
  readonly isError: boolean;
  /** What an LLM reads. */
  readonly text: string;
  /** Structured content. */
  readonly value: Wire;
  readonly content: readonly Wire[];
  readonly meta: Wire;
  /** Every byte of the answer's body. */
  readonly raw: string;
}

interface CallAs {
  readonly bearer?: string | undefined;
  readonly signal?: AbortSignal;
}

/** Calls a tool as curl would. Arguments that do not fit are an error as well, as MCP clients are told. */
export async function tool(host: { url: string }, name: string, args: object, as: CallAs = {}): Promise<Told> {
  const response = await fetch(`${host.url}/mcp`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(as.bearer && { authorization: `Bearer ${as.bearer}` }) },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } }),
    ...(as.signal && { signal: as.signal }),
  });
  const raw = await response.text();
  const { result, error } = JSON.parse(raw);
  if (error) return { isError: true, text: JSON.stringify(error), value: undefined, content: [], meta: undefined, raw };
  const { content, structuredContent: value, _meta: meta, isError = false } = result;
  return { isError, text: content[0].text, value, content, meta, raw };
}

/** A seat somebody has, and the tools as they call them for it. */
export interface TestSeat {
  readonly gameId: string;
  readonly role: string;
  readonly token: string;
  readonly link: string;
  readonly told: Told;
  wait(more?: object): Promise<Told>;
  move(move: unknown, more?: object): Promise<Told>;
}

function seatIn(host: { url: string }, told: Told): TestSeat {
  expect(told.isError, told.text).toBe(false);
  const { game_id, your_role, seat_token, link } = told.value;
  return {
    gameId: game_id,
    role: your_role,
    token: seat_token,
    link,
    told,
    wait: (more = {}) => tool(host, "waitForNextTurn", { game_id, seat_token, ...more }),
    move: (move, more = {}) => tool(host, "finishTurn", { game_id, seat_token, move, ...more }),
  };
}

export const createGame = async (host: { url: string }, args: object, as?: CallAs): Promise<TestSeat> =>
  seatIn(host, await tool(host, "createGame", args, as));

export const joinGame = async (host: { url: string }, game_id: string, more = {}, as?: CallAs): Promise<TestSeat> =>
  seatIn(host, await tool(host, "joinGame", { game_id, ...more }, as));

/** A game of two agents: its creator's seat and the other one. */
export async function twoSeats(host: { url: string }, template: string, more = {}): Promise<[TestSeat, TestSeat]> {
  const one = await createGame(host, { template, opponent: "agent", ...more });
  return [one, await joinGame(host, one.gameId)];
}

/** A game of agents alone, each with a seat, in the order of the game's roles. */
export async function allSeats(host: { url: string }, template: string, more = {}): Promise<TestSeat[]> {
  const one = await createGame(host, { template, opponent: "agent", ...more });
  const others: TestSeat[] = [];
  for (const _ of one.told.value.roles.slice(1)) others.push(await joinGame(host, one.gameId));
  return [one, ...others];
}

/** Plays moves by turns, each of which must be taken. */
export async function play(seats: readonly TestSeat[], moves: readonly unknown[]): Promise<void> {
  for (const [turn, move] of moves.entries()) {
    const told = await (seats[turn % seats.length] as TestSeat).move(move);
    expect(told.isError, `${move}: ${told.text}`).toBe(false);
  }
}

/** The token in a person's link. */
export const tokenOf = (link: string): string => new URL(link).hash.replace("#seat=", "");

/** The seat tokens of people whose links only the people at the host are shown. */
export const personTokens = ({ toldPeople }: TestHost, gameId: string): readonly string[] =>
  toldPeople.filter((line) => line.includes(gameId)).map((line) => /#seat=(\S+)/.exec(line)?.[1] ?? "");

interface GameEvent {
  readonly id: string;
  readonly event: string;
  readonly data: Wire;
}

/** The event stream of a game's page. */
export const watchGame = (host: Pick<TestHost, "url">, gameId: string, token?: string, lastEventId?: string) =>
  watchStream(host, `/api/games/${gameId}/events`, token, lastEventId);

/** An event stream: `next` resolves with its next event, null when the server has ended it. */
export async function watchStream({ url }: Pick<TestHost, "url">, path: string, token?: string, lastEventId?: string) {
  const abort = new AbortController();
  const response = await fetch(url + path, {
    headers: {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(lastEventId !== undefined && { "last-event-id": lastEventId }),
    },
    signal: abort.signal,
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  let all = "";
  const next = async (): Promise<GameEvent | null> => {
    for (;;) {
      const end = text.indexOf("\n\n");
      if (end < 0) {
        const read = await reader?.read();
        if (!read || read.done) return null;
        text += read.value;
        all += read.value;
        continue;
      }
      const lines = text.slice(0, end).split("\n");
      text = text.slice(end + 2);
      const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2) ?? "";
      if (field("event") !== "") return { id: field("id"), event: field("event"), data: JSON.parse(field("data")) };
    }
  };
  return { response, next, raw: () => all, close: () => abort.abort() };
}

/** Every event up to the end of the stream. */
export async function rest(stream: Awaited<ReturnType<typeof watchGame>>): Promise<readonly GameEvent[]> {
  const events: GameEvent[] = [];
  for (let event = await stream.next(); event; event = await stream.next()) events.push(event);
  return events;
}

/** What `/metrics` says of one gauge. */
export async function gauge(host: TestHost, name: string): Promise<number> {
  const { text } = await host.call("GET", "/metrics");
  return Number(new RegExp(`^${name} (\\d+)$`, "m").exec(text)?.[1]);
}
