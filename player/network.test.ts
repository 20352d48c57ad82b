import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sha256Hex } from "#shared/lib/hash.ts";
import { signFor } from "#shared/protocol/signing.ts";
import { newEnvelope } from "#shared/protocol/testing/envelope.ts";
import { canCreateNetworks, createNetwork, type TestNetwork } from "#shared/rpc/testing/network.ts";
import { bodyOf, from, invitation, moveRequest, replyIn } from "./testing/messages.ts";

const MAIN = join(import.meta.dirname, "main.ts");
const REFEREE = "the token that the manager created for this match";
const ATTACKER = "a token that the attacker made up";
const [LISTED, SECRET, WAITING] = [21_101, 21_102, 21_103];

describe.skipIf(!canCreateNetworks)("a player under attack from another machine (needs root and iproute2)", () => {
  let network: TestNetwork<"home" | "remote">;
  let folder = "";

  /** Starts a player on `home` that listens on all addresses. Resolves when it listens. */
  async function start(port: number, ...args: readonly string[]): Promise<void> {
    const place = ["--bot", "cycle", "--host", "0.0.0.0", "--port", String(port), "--data", folder];
    const command = [process.execPath, MAIN, ...place, "--name", `Player${port}`, ...args];
    const { stderr } = network.hosts.home.spawn(command, { stdio: ["ignore", "ignore", "pipe"] });
    for await (const line of createInterface({ input: stderr as Readable }))
      if (/plays at|no manager/.test(line)) break;
    (stderr as Readable).resume();
  }

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "attacked-"));
    network = await createNetwork("home", "remote");
    await Promise.all([
      start(LISTED, "--no-manager"),
      start(SECRET, "--no-manager", "--secret-file", join(folder, "secret")),
      start(WAITING, "--manager", "http://127.0.0.1:21100/mcp"),
    ]);
  });
  afterAll(async () => {
    await network?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const atHome = (port: number, body: object) => network.hosts.home.request(`http://127.0.0.1:${port}/mcp`, { body });
  const fromRemote = (port: number, body: object) =>
    network.hosts.remote.request(`http://${network.hosts.home.address}:${port}/mcp`, { body });

  it("without a secret accepts no message from another machine and limits the rate of its callers", async () => {
    await atHome(LISTED, bodyOf(from(REFEREE, "GAME_INVITE", invitation())));
    const move = replyIn((await atHome(LISTED, bodyOf(from(REFEREE, "MOVE_REQUEST", moveRequest())))).text);
    expect(move.type).toBe("MOVE_RESPONSE");
    const attacks = [
      from(ATTACKER, "GAME_INVITE", invitation({ epoch: 1_000_000 })),
      from(ATTACKER, "MOVE_REQUEST", moveRequest()),
      from(ATTACKER, "GAME_INVITE", invitation({ match_id: "R9M9" })),
    ];
    for (const attack of attacks) {
      const { status, text } = await fromRemote(LISTED, bodyOf(attack));
      expect(status).toBe(200);
      // The answer shows the manager that the player still listens at its endpoint.
      expect(replyIn(text).payload).toMatchObject({ error_code: "L004", context: { has_secret: false } });
    }
    const flood = Array.from({ length: 100 }, (_, n) =>
      from(ATTACKER, "GAME_INVITE", invitation({ match_id: `M${n}`, game: "none" })),
    );
    expect((await fromRemote(LISTED, bodyOf(...flood))).status).toBe(429);
    const again = replyIn((await atHome(LISTED, bodyOf(from(REFEREE, "MOVE_REQUEST", moveRequest())))).text);
    expect(again.payload).toEqual(move.payload);
  });

  it("with a secret accepts signed messages from another machine without a rate limit", async () => {
    const secret = readFileSync(join(folder, "secret"), "utf8").trim();
    const signature = signFor(sha256Hex(secret), "rps/R1M1");
    const forged = replyIn((await fromRemote(SECRET, bodyOf(from("forged", "GAME_INVITE", invitation())))).text);
    expect(forged.payload).toMatchObject({ error_code: "L004" });
    expect(forged.payload.context).not.toHaveProperty("has_secret");
    const invited = replyIn((await fromRemote(SECRET, bodyOf(from(signature, "GAME_INVITE", invitation())))).text);
    expect(invited.payload).toMatchObject({ accept: true });
    for (let n = 0; n < 20; n++) {
      const { text } = await fromRemote(SECRET, bodyOf(from(signature, "MOVE_REQUEST", moveRequest())));
      expect(replyIn(text).type).toBe("MOVE_RESPONSE");
    }
  });

  it("that waits for its manager accepts no unsigned invitation", async () => {
    const early = from("made up", "GAME_INVITE", invitation({ epoch: 1_000_000 }));
    expect(replyIn((await fromRemote(WAITING, bodyOf(early))).text).payload).toMatchObject({ error_code: "L004" });
    const state = bodyOf(newEnvelope("GET_MY_STATE", "player:me", {}));
    expect(replyIn((await atHome(WAITING, state)).text).payload).toMatchObject({ matches_begun: 0 });
  });
});
