import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { isToken } from "../lib/ids.ts";
import { newEnvelope } from "../protocol/envelope.ts";
import { PlayerRegisterResponse } from "../protocol/messages.ts";
import { collect } from "../rpc/http-endpoint.ts";
import { createPeers } from "../rpc/peer.ts";
import { openLog } from "./logger.ts";
import { register } from "./registration.ts";

it("asks again with the same token, written down before it was first sent, when the answer was lost or there were too many callers", async () => {
  const folder = mkdtempSync(join(tmpdir(), "registration-"));
  const tokenFile = join(folder, "tokens", "player-Ann");
  const asked: { readonly token: string; readonly wasKept: boolean }[] = [];
  const server = createServer((request, response) =>
    collect(request, 100_000, (body) => {
      const { id, params } = JSON.parse(body ?? "");
      const token = params.arguments.auth_token;
      asked.push({ token, wasKept: existsSync(tokenFile) && readFileSync(tokenFile, "utf8").trim() === token });
      if (asked.length === 1) return request.socket.destroy();
      if (asked.length === 2) return response.writeHead(429, { "retry-after": "1" }).end("{}");
      const payload = { status: "ACCEPTED", player_id: "P01", auth_token: token, league_ids: ["l"] };
      const reply = newEnvelope("PLAYER_REGISTER_RESPONSE", "league_manager:LM01", payload);
      const content = [{ type: "text", text: JSON.stringify(reply) }];
      return response.end(JSON.stringify({ jsonrpc: "2.0", id, result: { content } }));
    }),
  );
  await once(server.listen(0, "127.0.0.1"), "listening");
  const peers = createPeers();
  const silent = () => {};
  const registered = await register({
    ...{ peers, tokenFile, type: "PLAYER_REGISTER_REQUEST", sender: "player:Ann", payload: {}, timeoutMs: 5_000 },
    manager: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    response: PlayerRegisterResponse,
    self: { log: openLog(null, "player"), say: silent, warn: silent, report: silent },
    signal: new AbortController().signal,
  });
  const { token } = registered;
  expect(asked).toEqual([
    { token, wasKept: true },
    { token, wasKept: true },
    { token, wasKept: true },
  ]);
  expect([isToken(token), statSync(tokenFile).mode & 0o777]).toEqual([true, 0o600]);
  await peers.close();
  await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true });
});
