import { once } from "node:events";
import { expect, it, onTestFinished, vi } from "vitest";
import { WebSocket } from "ws";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import { answerTo, messageTo, roundOf, startInbox } from "./testing/inbox.ts";

/** Opens a WebSocket at an inbox. The received messages are in `messages`. */
async function connect(inbox: string, protocols: readonly string[], headers: Record<string, string> = {}) {
  const options = { perMessageDeflate: false, maxPayload: 1_000_000, headers } as const;
  const socket = new WebSocket(inbox.replace("http:", "ws:"), protocols, options);
  const messages: ReturnType<typeof JSON.parse>[] = [];
  socket.on("message", (data: Buffer) => messages.push(JSON.parse(data.toString("utf8"))));
  onTestFinished(() => socket.terminate());
  await once(socket, "open");
  return {
    socket,
    messages,
    closed: once(socket, "close") as Promise<[number, Buffer]>,
    /** Resolves with the next request. */
    next: () =>
      vi.waitFor(() => {
        const message = messages.shift();
        if (message === undefined) throw new Error("no request has arrived");
        return message;
      }, WAIT_OPTIONS),
  };
}

it.each([
  ["as a bearer token", (token: string) => [[], { authorization: `Bearer ${token}` }] as const],
  ["as a subprotocol", (token: string) => [["league.v2", `bearer.${token}`], {}] as const],
])("a WebSocket with the token %s receives requests and sends answers, one message a frame", async (_, access) => {
  const { inbox, token } = await startInbox();
  const [protocols, headers] = access(token);
  const player = await connect(inbox, protocols, headers);
  const calls = [messageTo(inbox, token, 1), messageTo(inbox, token, 2)];
  const requests = [await player.next(), await player.next()];
  expect(requests.map(roundOf).sort()).toEqual([1, 2]);
  for (const request of requests) player.socket.send(JSON.stringify(answerTo(request, roundOf(request))));
  expect((await Promise.all(calls)).map(({ result }) => result)).toEqual([1, 2]);
});

it("the server selects league.v2, so that it does not repeat the token", async () => {
  const { inbox, token } = await startInbox();
  const { socket } = await connect(inbox, [`bearer.${token}`, "league.v2"]);
  expect((socket as unknown as { protocol: string }).protocol).toBe("league.v2");
});

it("a WebSocket without the player's token is refused with 401", async () => {
  const { inbox } = await startInbox();
  await expect(connect(inbox, ["league.v2", "bearer.wrong"])).rejects.toThrow("401");
});

it("a WebSocket that connects again receives the open requests", async () => {
  const { inbox, token } = await startInbox();
  const protocols = ["league.v2", `bearer.${token}`];
  const first = await connect(inbox, protocols);
  const called = messageTo(inbox, token, 5);
  expect(roundOf(await first.next())).toBe(5);
  first.socket.terminate();
  const second = await connect(inbox, protocols);
  second.socket.send(JSON.stringify(answerTo(await second.next())));
  expect((await called).result).toBe("done");
});

it("a newer WebSocket or poll closes a WebSocket", async () => {
  const { inbox, token, poll } = await startInbox();
  const protocols = ["league.v2", `bearer.${token}`];
  const first = await connect(inbox, protocols);
  const second = await connect(inbox, protocols);
  const replaced = [4409, Buffer.from("a newer connection to this inbox has replaced this one")];
  expect(await first.closed).toMatchObject(replaced);
  expect((await poll([], "?wait_s=0")).status).toBe(200);
  expect(await second.closed).toMatchObject(replaced);
});

it("a frame that is not JSON closes the WebSocket", async () => {
  const { inbox, token } = await startInbox();
  const { socket, closed } = await connect(inbox, ["league.v2", `bearer.${token}`]);
  socket.send("{");
  expect((await closed)[0]).toBe(1007);
});

it("a manager that stops closes its WebSockets", async () => {
  const { inbox, token, manager } = await startInbox();
  const { closed } = await connect(inbox, ["league.v2", `bearer.${token}`]);
  await manager.stop();
  expect((await closed)[0]).toBe(1012);
});
