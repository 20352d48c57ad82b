import type { Server } from "node:http";
import { afterAll, beforeAll, expect } from "vitest";
import { z } from "zod";
import { httpEndpoint } from "#shared/rpc/http/http-server.ts";
import { jsonRpc, type Method } from "#shared/rpc/jsonrpc/json-rpc.ts";
import { rpcRequest } from "./json-rpc.ts";
import { listenOnLoopback } from "./loopback.ts";

export let url = "";

/** Serves methods at an endpoint while the tests of a file run; `ask` calls them. */
export function serve(methods: Readonly<Record<string, Method>>, onInternalError: (error: unknown) => void): void {
  let server: Server;
  beforeAll(async () => {
    const rpc = jsonRpc(methods, onInternalError);
    server = httpEndpoint({
      handler: rpc.answer,
      web: () => Promise.reject(),
      bodyLimit: () => 256 * 1024,
      allowedHosts: [],
    });
    url = `http://127.0.0.1:${await listenOnLoopback(server)}/mcp`;
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
}

const Reply = z.object({
  jsonrpc: z.literal("2.0"),
  id: z.literal(7),
  result: z.unknown().optional(),
  error: z.object({ code: z.int(), message: z.string(), data: z.unknown().optional() }).optional(),
});

export async function ask(method: string, params?: unknown, bearer?: string) {
  const headers = { "content-type": "application/json", ...(bearer && { authorization: `Bearer ${bearer}` }) };
  const body = JSON.stringify(rpcRequest(method, params, 7));
  const reply = await fetch(url, { method: "POST", headers, body });
  return { status: reply.status, ...Reply.parse(await reply.json()) };
}

/** Resolves with the paths of the faults in an answer -32602 with HTTP 200. */
export async function faultsOf(answer: ReturnType<typeof ask>): Promise<string[]> {
  const { status, error } = await answer;
  expect([status, error?.code]).toEqual([200, -32602]);
  return z
    .object({ faults: z.array(z.object({ path: z.string(), message: z.string().min(1) })) })
    .parse(error?.data)
    .faults.map(({ path }) => path);
}
