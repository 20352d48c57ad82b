import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rpcToolCall } from "#shared/rpc/testing/json-rpc.ts";
import { replay } from "#shared/session/replay.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { testWriter } from "#shared/store/testing/writer.ts";
import { startTestHost, type TestHost } from "../rest/testing/host.ts";
import { databaseOf } from "../rest/testing/observer.ts";
import { SESSION_SCHEMA, sessionStore } from "../sessions/session-store.ts";
import { allSeats, createGame, type TestSeat, tool, twoSeats } from "./testing/play.ts";

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(() => host.remove());

const resign = ({ gameId: game_id, token: seat_token }: TestSeat, more = {}) =>
  tool(host, "finishTurn", { game_id, seat_token, resign: true, ...more });
const RESIGNED = { reason: "resigned", termination: "forfeit" };

describe("a resignation", () => {
  it("ends the game for both sides, even out of turn, and the log replays to the same end", async () => {
    const [white, black] = await twoSeats(host, "chess");
    const waited = white.wait({ timeout_s: 30 });
    await white.move("e4");
    await waited;
    const next = white.wait({ timeout_s: 30 });
    expect(await resign(white)).toMatchObject({ isError: false, text: expect.stringMatching(/^You have resigned\./) });
    const result = { winner: "black", winners: ["black"], ...RESIGNED };
    expect((await next).value).toMatchObject({ next: "game_over", result });
    expect((await black.wait()).text).toContain("black wins by resignation. You have won.");
    expect((await white.wait()).text).toContain("black wins by resignation. You have lost.");
    const db = openSqlite(databaseOf(host), SESSION_SCHEMA);
    const store = sessionStore(db, testWriter(db));
    const replayed = replay(store.log.read(white.gameId), store.about(white.gameId)?.seed ?? "");
    db.close();
    expect(replayed).toMatchObject({
      ok: true,
      value: { status: "completed", termination: "forfeit", reason: "resigned" },
    });
  });

  it("of a member is a resignation of its team", async () => {
    const [spymaster] = await allSeats(host, "codenames");
    expect((await resign(spymaster as TestSeat)).value.result).toMatchObject({
      winners: ["blue_spymaster", "blue_team"],
      ...RESIGNED,
    });
  });

  it("against a bot ends the game", async () => {
    const white = await createGame(host, { template: "chess", opponent: "random", play_as: "black" });
    expect((await resign(white)).value.result).toMatchObject({ winner: "white", ...RESIGNED });
  });

  it("is made once when its call is repeated with the same idempotency_key", async () => {
    const [white] = await twoSeats(host, "chess");
    const keyed = { idempotency_key: "resignation" };
    expect((await resign(white, keyed)).isError).toBe(false);
    expect((await resign(white, keyed)).isError).toBe(false);
    expect(await resign(white)).toMatchObject({ isError: true, text: "The game is over: resigned" });
  });

  it.each([{ resign: true }, { move: "e4" }])(
    "is the reason in the rejection of a concurrent call with %j",
    async (more) => {
      const [white, black] = await twoSeats(host, "chess");
      const batch = [
        { game_id: black.gameId, seat_token: black.token, resign: true },
        { game_id: white.gameId, seat_token: white.token, ...more },
      ].map((args, id) => rpcToolCall("finishTurn", args, id));
      const headers = { "content-type": "application/json" };
      const { json } = await host.call("POST", "/mcp", { headers, body: batch });
      const rejected = json.find(({ id }: { id: number }) => id === 1).result;
      expect([rejected.isError, rejected.content[0].text]).toEqual([true, "The game is over: resigned"]);
    },
  );

  it("is the reason in the rejection of a concurrent resignation on a page", async () => {
    const [white, black] = await twoSeats(host, "chess");
    const path = `/api/games/${white.gameId}/moves`;
    const posted = [black, white].map(({ token }) => host.call("POST", path, { token, body: { resign: true } }));
    const errors = (await Promise.all(posted)).flatMap(({ json }) => json.error ?? []);
    expect(errors).toEqual([{ code: "CONFLICT", message: "The game is over: resigned" }]);
  });

  it("is rejected together with a move, without a seat and before all players have joined", async () => {
    const [white] = await twoSeats(host, "chess");
    expect((await resign(white, { move: "e4" })).text).toContain("give a move or resign, not both");
    expect((await tool(host, "finishTurn", { game_id: white.gameId, resign: true })).text).toMatch(/^seat_token/);
    expect((await tool(host, "finishTurn", { game_id: white.gameId, seat_token: white.token })).text).toContain(
      "is missing: give one of the legal moves, or resign: true",
    );
    const open = await createGame(host, { template: "chess" });
    expect((await resign(open)).text).toMatch(/^Waiting for players/);
    expect((await white.wait()).value).toMatchObject({ tick: 0, next: "your_turn" });
  });

  it("can be made on a page", async () => {
    const [white, black] = await twoSeats(host, "chess");
    const path = `/api/games/${white.gameId}/moves`;
    const both = await host.call("POST", path, { token: black.token, body: { move: "e5", resign: true } });
    expect([both.status, both.json.error.code]).toEqual([400, "INVALID_REQUEST"]);
    expect(both.json.error.message).toBe("resign: give a move or resign, not both");
    const { json } = await host.call("POST", path, { token: black.token, body: { resign: true } });
    expect(json).toMatchObject({ status: "completed", result: { winner: "white", ...RESIGNED } });
  });
});
