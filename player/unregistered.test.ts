import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sha256Hex } from "#shared/lib/hash.ts";
import { isToken } from "#shared/lib/ids.ts";
import type { Envelope } from "#shared/protocol/envelope.ts";
import { signFor } from "#shared/protocol/signing.ts";
import type { RunningAgent } from "#shared/runtime/agent.ts";
import { silentProcess } from "#shared/runtime/testing/process.ts";
import { startPlayer } from "./service.ts";
import { bodyOf, from, gameResult, invitation, moveRequest, replyIn } from "./testing/messages.ts";

/** A player that does not register itself; a league lists it by its endpoint. */
interface Unregistered {
  /** The lines on its terminal. */
  readonly lines: readonly string[];
  post(...envelopes: readonly Envelope[]): Promise<Response>;
  /** Sends one message; resolves with the player's answer. */
  send(envelope: Envelope): Promise<Envelope>;
}

let folder = "";
const running: RunningAgent[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "unregistered-"));
});
afterEach(async () => {
  for (const player of running.splice(0)) await player.stop();
  rmSync(folder, { recursive: true });
});

async function startUnregistered(more: { secretFile?: string; limitLoopback?: boolean } = {}): Promise<Unregistered> {
  const lines: string[] = [];
  const ready = Promise.withResolvers<string>();
  const self = silentProcess("player", {
    say: (line) => void lines.push(line),
    report: (report: { type: string; url?: string }) => ready.resolve(report.url ?? ""),
  });
  const place = { host: "127.0.0.1", ports: [0], manager: null, dataFolder: folder };
  running.push(await startPlayer({ bot: "cycle", name: "Listed", ...place, ...more }, self));
  const url = `${await ready.promise}/mcp`;
  const post = (...envelopes: readonly Envelope[]): Promise<Response> => {
    const body = JSON.stringify(bodyOf(...envelopes));
    return fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
  };
  return { lines, post, send: async (envelope) => replyIn(await (await post(envelope)).text()) };
}

const REFEREE = "the token that the manager created for this match";
const ATTACKER = "a token that the attacker made up";
const CHOICE = /rock|paper|scissors/;

describe("a player without a secret", () => {
  it("hides its choice from an attacker that floods it with accepted and declined invitations", async () => {
    const player = await startUnregistered();
    await player.send(from(REFEREE, "GAME_INVITE", invitation()));
    const choice = await player.send(from(REFEREE, "MOVE_REQUEST", moveRequest()));
    expect(choice.payload).toMatchObject({ move: expect.stringMatching(CHOICE) });
    const flood = (count: number, epoch: number, match = "") =>
      Array.from({ length: count / 100 }, (_, batch) =>
        player.post(
          ...Array.from({ length: 100 }, (_, n) =>
            from(ATTACKER, "GAME_INVITE", invitation({ epoch, match_id: match || `${batch}-${n}` })),
          ),
        ),
      );
    // The first invitation has a newer epoch than those that are declined.
    for (const sent of flood(100, 2, "one")) await (await sent).text();
    for (const sent of [...flood(10_100, 1, "one"), ...flood(500, 1)]) await (await sent).text();
    for (const message of [from(ATTACKER, "MOVE_REQUEST", moveRequest()), from("", "MOVE_REQUEST", moveRequest())]) {
      const answer = await player.send(message);
      expect(answer).toMatchObject({ type: "GAME_ERROR", payload: { error_code: "G003" } });
      expect(JSON.stringify(answer)).not.toMatch(CHOICE);
    }
    const again = await player.send(from(REFEREE, "MOVE_REQUEST", moveRequest()));
    expect(again.payload).toEqual(choice.payload);
  });

  it("answers in each match with the player id of its invitation", async () => {
    const player = await startUnregistered();
    const asP09 = { ...invitation({ match_id: "R1M2" }), roles: { player_1: "P09", player_2: "P02" } };
    const answers = [
      await player.send(from(REFEREE, "GAME_INVITE", invitation())),
      await player.send(from(REFEREE, "GAME_INVITE", asP09)),
      await player.send(from(REFEREE, "MOVE_REQUEST", moveRequest())),
    ];
    expect(answers.map(({ sender }) => sender)).toEqual(["player:P01", "player:P09", "player:P01"]);
  });

  it("plays a match after an attacker has sent an invitation of the same name with a higher epoch", async () => {
    const player = await startUnregistered();
    await player.send(from(ATTACKER, "GAME_INVITE", invitation({ epoch: 1_000_000 })));
    const accepted = await player.send(from(REFEREE, "GAME_INVITE", invitation()));
    expect(accepted.payload).toMatchObject({ accept: true });
    const move = await player.send(from(REFEREE, "MOVE_REQUEST", moveRequest()));
    expect(move.payload).toMatchObject({ tick: 0, move: expect.stringMatching(CHOICE) });
  });

  it("continues a match that an attacker tries to restart and to end", async () => {
    const player = await startUnregistered();
    await player.send(from(REFEREE, "GAME_INVITE", invitation()));
    await player.send(from(ATTACKER, "GAME_INVITE", invitation({ epoch: 9 })));
    const ended = await player.send(from(`${ATTACKER}, too`, "GAME_RESULT", gameResult()));
    expect(ended).toMatchObject({ type: "GAME_ERROR", payload: { error_code: "G003" } });
    const move = await player.send(from(REFEREE, "MOVE_REQUEST", moveRequest()));
    expect(move).toMatchObject({ type: "MOVE_RESPONSE", payload: { tick: 0 } });
  });

  it("plays the league of the next run, whose matches have the same ids and other tokens", async () => {
    const player = await startUnregistered();
    await player.send(from(REFEREE, "GAME_INVITE", invitation()));
    await player.send(from(REFEREE, "GAME_RESULT", gameResult()));
    await player.send(from("of the second run", "GAME_INVITE", invitation({ seed: "unfinished" })));
    const third = from("of the third run", "GAME_INVITE", invitation({ seed: "third" }));
    expect((await player.send(third)).payload).toMatchObject({ accept: true });
    const move = await player.send(from("of the third run", "MOVE_REQUEST", moveRequest()));
    expect(move.payload).toMatchObject({ move: expect.stringMatching(CHOICE) });
  });

  it("declines with the player id of the invitation as sender", async () => {
    const player = await startUnregistered();
    await player.send(from(REFEREE, "GAME_INVITE", invitation({ epoch: 2 })));
    const declined = await player.send(from(REFEREE, "GAME_INVITE", invitation({ epoch: 1 })));
    expect(declined).toMatchObject({ type: "GAME_INVITE_RESPONSE", sender: "player:P01", payload: { accept: false } });
  });

  it("rejects an invitation without a token, because any caller could request its moves", async () => {
    const player = await startUnregistered();
    const rejected = await player.send(from("", "GAME_INVITE", invitation()));
    expect(rejected).toMatchObject({ type: "LEAGUE_ERROR", payload: { error_code: "L004" } });
  });

  it("limits the rate of callers without the token of a match, and not of the referee of a match", async () => {
    const player = await startUnregistered({ limitLoopback: true });
    await player.send(from(REFEREE, "GAME_INVITE", invitation()));
    const statuses: number[] = [];
    for (let n = 0; n < 12; n++)
      statuses.push((await player.post(from(ATTACKER, "MOVE_REQUEST", moveRequest()))).status);
    expect(statuses).toEqual([...Array(9).fill(200), 429, 429, 429]);
    expect((await player.post(from(REFEREE, "MOVE_REQUEST", moveRequest()))).status).toBe(200);
  });
});

describe("a player with a secret file", () => {
  it("creates the secret, prints its file name and accepts only signed messages, from this machine as well", async () => {
    const secretFile = join(folder, "listed.secret");
    const player = await startUnregistered({ secretFile });
    const secret = readFileSync(secretFile, "utf8").trim();
    expect([isToken(secret), statSync(secretFile).mode & 0o777]).toEqual([true, 0o600]);
    expect(player.lines.filter((line) => line.includes(secretFile))).toHaveLength(1);
    // Lines on the terminal are also written to the log.
    expect(player.lines.filter((line) => line.includes(secret))).toEqual([]);
    const unsigned = await player.send(from(REFEREE, "GAME_INVITE", invitation()));
    expect(unsigned).toMatchObject({ type: "LEAGUE_ERROR", payload: { error_code: "L004" } });
    const signature = signFor(sha256Hex(secret), "rps/R1M1");
    const signed = await player.send(from(signature, "GAME_INVITE", invitation()));
    expect(signed.payload).toMatchObject({ accept: true });
    const again = await startUnregistered({ secretFile });
    const signedAgain = await again.send(from(signature, "GAME_INVITE", invitation()));
    expect(signedAgain.payload).toMatchObject({ accept: true });
  });

  it("rejects a file that does not contain a secret and names it", async () => {
    const secretFile = join(import.meta.dirname, "../package.json");
    await expect(startUnregistered({ secretFile })).rejects.toThrow(`${secretFile}: a secret has 43 characters`);
  });
});
