import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { isoAt } from "#shared/lib/clock.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { err, ok } from "#shared/lib/result.ts";
import { manualClock } from "#shared/lib/testing/clock.ts";
import type { Envelope } from "#shared/protocol/envelope.ts";
import { signFor } from "#shared/protocol/signing.ts";
import { newEnvelope } from "#shared/protocol/testing/envelope.ts";
import type { ListenOptions } from "#shared/rpc/http/http-server.ts";
import type { Network } from "#shared/rpc/network.ts";
import { silentProcess } from "#shared/runtime/testing/process.ts";
import { startPlayer } from "./service.ts";
import { bodyOf, from, invitation, moveRequest, replyIn } from "./testing/messages.ts";

const MANAGER = "http://10.0.0.1:8000/mcp";
const HOST = "10.0.0.2";

test("a player with a given network and clock registers and moves without sockets and real time", async () => {
  const dataFolder = mkdtempSync(join(tmpdir(), "given-network-"));
  onTestFinished(() => rmSync(dataFolder, { recursive: true }));
  const clock = manualClock();
  const startedAt = clock.now();
  const registrations: Envelope[] = [];
  const endpoint = Promise.withResolvers<ListenOptions>();
  const network: Network = {
    async listen(options) {
      endpoint.resolve(options);
      const url = `http://${options.host}:${options.ports[0]}`;
      const place = { url, urls: [url], port: options.ports[0] ?? 0, isOnEveryAddress: false };
      return ok({ ...place, rejections: { write: () => {} }, close: async () => {} });
    },
    createPeers: () => ({
      async message(_endpoint, envelope) {
        registrations.push(envelope);
        if (registrations.length === 1) return err({ cause: "refused", detail: "nothing listens there" });
        const accepted = { status: "ACCEPTED", player_id: "P01", auth_token: envelope.auth_token, league_ids: ["rps"] };
        return ok(newEnvelope("PLAYER_REGISTER_RESPONSE", "league_manager:LM01", accepted));
      },
      notify: async () => ok(null),
      post: async () => err({ cause: "refused", detail: "nothing listens there" }),
      probe: async () => "alive",
      isListening: async () => true,
      get: async () => err({ cause: "refused", detail: "nothing listens there" }),
      close: async () => {},
    }),
    openEventStream: () => Promise.reject(new Error("not used")),
    comesFrom: async () => false,
    addressToward: async () => HOST,
    interfaces: () => ({}),
  };
  const lines: string[] = [];
  const self = silentProcess("player", { clock, network, say: (line) => void lines.push(line) });
  const place = { host: HOST, ports: [9000], manager: MANAGER, dataFolder };
  const player = await startPlayer({ bot: "cycle", name: "Ann", ...place }, self);

  await clock.advance(0);
  expect(registrations.map(({ timestamp }) => timestamp)).toEqual([isoAt(startedAt)]);
  await clock.advance(10_000);
  expect(lines.at(-1)).toBe("registered as P01 in rps");
  expect(registrations).toHaveLength(2);
  const [token, { timestamp = "" } = {}] = [registrations[1]?.auth_token ?? "", registrations[1]];
  expect(Date.parse(timestamp) - startedAt).toBeGreaterThan(0);
  expect(Date.parse(timestamp) - startedAt).toBeLessThanOrEqual(500);

  const { handler } = await endpoint.promise;
  const referee = { bearer: null, remoteAddress: "10.0.0.3" };
  const matchToken = signFor(sha256Hex(token), "rps/R1M1");
  const send = async (envelope: Envelope): Promise<Envelope> =>
    replyIn((await handler(JSON.stringify(bodyOf(envelope)), referee)).body);
  expect((await send(from(matchToken, "GAME_INVITE", invitation()))).payload).toMatchObject({ accept: true });
  const moved = await send(from(matchToken, "MOVE_REQUEST", moveRequest()));
  expect(moved.payload.move).toMatch(/rock|paper|scissors/);
  expect(moved.timestamp).toBe(isoAt(startedAt + 10_000));

  await player.stop();
  expect(clock.timers()).toBe(0);
});
