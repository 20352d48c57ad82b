/** Helpers for tests of games: calls of tools with plain HTTP requests, and event streams. */

import { expect } from "vitest";
import { rpcToolCall } from "#shared/rpc/testing/json-rpc.ts";
import type { TestHost } from "../../rest/testing/host.ts";

// biome-ignore lint/suspicious/noExplicitAny: parsed JSON from the wire
export type Wire = any;

/** The answer to a call of a tool. */
export interface ToolAnswer {
  readonly isError: boolean;
  /** The text for the model. */
  readonly text: string;
  /** The structured content. */
  readonly value: Wire;
  readonly content: readonly Wire[];
  readonly meta: Wire;
  /** The body of the HTTP response. */
  readonly raw: string;
}

interface CallAs {
  readonly bearer?: string | undefined;
  readonly signal?: AbortSignal;
}

/** Calls a tool with a plain HTTP request. A JSON-RPC error, as for invalid arguments, is returned as an answer with isError. */
export async function tool(host: { url: string }, name: string, args: object, as: CallAs = {}): Promise<ToolAnswer> {
  const response = await fetch(`${host.url}/mcp`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(as.bearer && { authorization: `Bearer ${as.bearer}` }) },
    body: JSON.stringify(rpcToolCall(name, args)),
    ...(as.signal && { signal: as.signal }),
  });
  const raw = await response.text();
  const { result, error } = JSON.parse(raw);
  if (error) return { isError: true, text: JSON.stringify(error), value: undefined, content: [], meta: undefined, raw };
  const { content, structuredContent: value, _meta: meta, isError = false } = result;
  return { isError, text: content[0].text, value, content, meta, raw };
}

/** A seat of a game, with functions that call the tools for it. `answer` is the answer to createGame or joinGame. */
export interface TestSeat {
  readonly gameId: string;
  readonly role: string;
  readonly token: string;
  readonly link: string;
  readonly answer: ToolAnswer;
  wait(more?: object): Promise<ToolAnswer>;
  move(move: unknown, more?: object): Promise<ToolAnswer>;
}

function seatIn(host: { url: string }, answer: ToolAnswer): TestSeat {
  expect(answer.isError, answer.text).toBe(false);
  const { game_id, your_role, seat_token, link } = answer.value;
  return {
    gameId: game_id,
    role: your_role,
    token: seat_token,
    link,
    answer,
    wait: (more = {}) => tool(host, "waitForNextTurn", { game_id, seat_token, ...more }),
    move: (move, more = {}) => tool(host, "finishTurn", { game_id, seat_token, move, ...more }),
  };
}

export const createGame = async (host: { url: string }, args: object, as?: CallAs): Promise<TestSeat> =>
  seatIn(host, await tool(host, "createGame", args, as));

export const joinGame = async (host: { url: string }, game_id: string, more = {}, as?: CallAs): Promise<TestSeat> =>
  seatIn(host, await tool(host, "joinGame", { game_id, ...more }, as));

/** Creates a game of two agents. Resolves with the seat of the creator and the other seat. */
export async function twoSeats(host: { url: string }, template: string, more = {}): Promise<[TestSeat, TestSeat]> {
  const one = await createGame(host, { template, opponent: "agent", ...more });
  return [one, await joinGame(host, one.gameId)];
}

/** Creates a game in which agents have all seats. Resolves with the seats in the order of the roles. */
export async function allSeats(host: { url: string }, template: string, more = {}): Promise<TestSeat[]> {
  const one = await createGame(host, { template, opponent: "agent", ...more });
  const others: TestSeat[] = [];
  for (const _ of one.answer.value.roles.slice(1)) others.push(await joinGame(host, one.gameId));
  return [one, ...others];
}

/** Plays moves of the seats in turn. Fails if a move is rejected. */
export async function play(seats: readonly TestSeat[], moves: readonly unknown[]): Promise<void> {
  for (const [turn, move] of moves.entries()) {
    const answer = await (seats[turn % seats.length] as TestSeat).move(move);
    expect(answer.isError, `${move}: ${answer.text}`).toBe(false);
  }
}

/** The token in the link of a person. */
export const tokenOf = (link: string): string => new URL(link).hash.replace("#seat=", "");

/** The seat tokens in the links that are shown only at the terminal of the host. */
export const personTokens = ({ terminalLines }: TestHost, gameId: string): readonly string[] =>
  terminalLines.filter((line) => line.includes(gameId)).map((line) => /#seat=(\S+)/.exec(line)?.[1] ?? "");

interface GameEvent {
  readonly id: string;
  readonly event: string;
  readonly data: Wire;
}

/** Opens the event stream of the page of a game. */
export const watchGame = (host: Pick<TestHost, "url">, gameId: string, token?: string, lastEventId?: string) =>
  watchStream(host, `/api/games/${gameId}/events`, token, lastEventId);

/** Opens an event stream. `next` resolves with the next event, or null when the server has ended the stream. `raw` returns the received text. */
export async function watchStream({ url }: Pick<TestHost, "url">, path: string, token?: string, lastEventId?: string) {
  const abort = new AbortController();
  const response = await fetch(url + path, {
    headers: {
      accept: "text/event-stream",
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
      if (field("data") !== "") return { id: field("id"), event: field("event"), data: JSON.parse(field("data")) };
    }
  };
  return { response, next, raw: () => all, close: () => abort.abort() };
}

/** Resolves with all events up to the end of a stream. */
export async function remainingEvents(stream: Awaited<ReturnType<typeof watchGame>>): Promise<readonly GameEvent[]> {
  const events: GameEvent[] = [];
  for (let event = await stream.next(); event; event = await stream.next()) events.push(event);
  return events;
}

/** The value of a gauge in `/metrics`. */
export async function gauge(host: TestHost, name: string): Promise<number> {
  const { text } = await host.call("GET", "/metrics");
  return Number(new RegExp(`^${name} (\\d+)$`, "m").exec(text)?.[1]);
}
