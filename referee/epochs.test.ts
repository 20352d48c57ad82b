import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { signed, startTable, type Table } from "./testing/match.ts";

/** P02 is held back in R1M1 until it is let go; everything else is answered at once. */
let letGo = Promise.withResolvers<void>();
let table: Table;
beforeEach(async () => {
  letGo = Promise.withResolvers();
  table = await startTable({
    async move({ to, payload }) {
      if (to === "P02" && payload.match_id === "R1M1") await letGo.promise;
      return null;
    },
  });
});
afterEach(async () => {
  letGo.resolve();
  await table.stop();
});

const refused = (code: string) => ({ isError: true, payload: { error_code: code } });
const results = (matchId: string): readonly object[] =>
  table.heard
    .filter(({ type, payload }) => type === "MATCH_RESULT" && payload.match_id === matchId)
    .map(({ payload }) => ({ epoch: payload.epoch, termination: payload.termination, winner: payload.winner }));

describe("MATCH_WITHDRAWN", () => {
  const withdraw = (epoch: number, signature: string | undefined) =>
    table.say("MATCH_WITHDRAWN", { league_id: "rps", match_id: "R1M1", epoch }, signature);

  it("without the manager's signature for this very match is refused, and the match ends normally", async () => {
    await table.begin();
    await table.told("P02", "MOVE_REQUEST");
    for (const signature of [undefined, "", "wrong", signed("rps/R1M2"), signed("rps"), signed("go/R1M1")]) {
      expect(await withdraw(1, signature), `signed ${signature}`).toMatchObject(refused("L004"));
    }
    letGo.resolve();
    await table.told("manager", "MATCH_RESULT");
    expect(results("R1M1")).toEqual([{ epoch: 1, termination: "normal", winner: "P01" }]);
  });

  it("ends the asking, and nothing is reported", async () => {
    await table.begin();
    const asked = await table.told("P02", "MOVE_REQUEST");
    expect(await withdraw(1, signed())).toMatchObject({ isError: false, type: "ACK" });
    await asked.gone;
    letGo.resolve();
    // By the end of another match that one would long be over too.
    await table.begin({ match_id: "R1M2" });
    await table.told("P02", "GAME_RESULT", "R1M2");
    expect(results("R1M1")).toEqual([]);
    const questions = table.heard.filter(({ type, payload }) => type === "MOVE_REQUEST" && payload.match_id === "R1M1");
    expect(questions.map(({ to }) => to).sort()).toEqual(["P01", "P02"]);
    const left = await table.tool("get_game_state", { match_id: "R1M1" });
    expect(left).toMatchObject({ status: "completed", termination: "aborted" });
    expect(left.reason).toBe("the match was given to another referee");
  });

  it("of an older epoch leaves the newer one alone", async () => {
    await table.begin({ epoch: 2 });
    await table.told("P02", "MOVE_REQUEST");
    expect(await withdraw(1, signed())).toMatchObject({ isError: false, type: "ACK" });
    letGo.resolve();
    await table.told("manager", "MATCH_RESULT");
    expect(results("R1M1")).toEqual([{ epoch: 2, termination: "normal", winner: "P01" }]);
  });
});

describe("START_GAME", () => {
  it("of an older epoch is refused, and the newer one goes on to its result", async () => {
    const begun = await table.begin({ epoch: 2 });
    await table.told("P02", "MOVE_REQUEST");
    expect(await table.begin({ epoch: 1 })).toMatchObject(refused("G005"));
    letGo.resolve();
    await table.told("P02", "GAME_RESULT");
    expect(results("R1M1")).toEqual([{ epoch: 2, termination: "normal", winner: "P01" }]);
    expect(table.heard.filter(({ payload }) => payload.epoch === 1)).toEqual([]);
    expect((await table.tool("get_game_state", { match_id: "R1M1" })).session_id).toBe(begun.payload.session_id);
  });

  it("of a newer epoch takes the place of the older one", async () => {
    await table.begin({ epoch: 1 });
    const asked = await table.told("P02", "MOVE_REQUEST", "R1M1", 1);
    expect(await table.begin({ epoch: 2 })).toMatchObject({ isError: false, payload: { status: "ACCEPTED" } });
    await asked.gone;
    await table.told("P02", "MOVE_REQUEST", "R1M1", 2);
    letGo.resolve();
    await table.told("P02", "GAME_RESULT");
    expect(results("R1M1")).toEqual([{ epoch: 2, termination: "normal", winner: "P01" }]);
  });

  it.each([
    ["older first", [1, 2]],
    ["newer first", [2, 1]],
  ] as const)("of two epochs at the same moment is played under the newer one, %s", async (_order, epochs) => {
    const [one, other] = await Promise.all(epochs.map((epoch) => table.begin({ epoch })));
    letGo.resolve();
    await table.told("P02", "GAME_RESULT");
    expect(results("R1M1")).toEqual([{ epoch: 2, termination: "normal", winner: "P01" }]);
    const newer = epochs[0] === 2 ? one : other;
    expect(newer).toMatchObject({ isError: false, payload: { status: "ACCEPTED" } });
    if (epochs[0] === 2) expect(other).toMatchObject(refused("G005"));
    expect((await table.tool("get_game_state", { match_id: "R1M1" })).session_id).toBe(newer?.payload.session_id);
  });

  it("that comes several times at the same moment begins one session", async () => {
    const answers = await Promise.all([table.begin(), table.begin(), table.begin()]);
    letGo.resolve();
    await table.told("P02", "GAME_RESULT");
    expect(new Set(answers.map(({ payload }) => payload.session_id)).size).toBe(1);
    expect(results("R1M1")).toHaveLength(1);
  });

  it("signed for the league instead of the match is refused", async () => {
    expect(await table.say("START_GAME", table.order(), signed("rps"))).toMatchObject(refused("L004"));
    expect(await table.tool("start_game", { ...table.order(), auth_token: signed("rps") })).toMatchObject({
      isError: true,
      error_code: "L004",
    });
    expect(await table.tool("get_game_state", { match_id: "R1M1" })).toMatchObject({ isError: true });
  });
});

describe("what was withdrawn or is past", () => {
  const withdraw = (epoch: number) =>
    table.say("MATCH_WITHDRAWN", { league_id: "rps", match_id: "R1M1", epoch }, signed());

  it("is not begun again by another copy of its order: G005", async () => {
    letGo.resolve();
    await Promise.all([table.begin(), withdraw(1)]);
    expect(await table.begin()).toMatchObject(refused("G005"));
    // What is newer is another matter.
    await table.begin({ epoch: 2 });
    await table.told("manager", "MATCH_RESULT");
    expect(results("R1M1")).toEqual([{ epoch: 2, termination: "normal", winner: "P01" }]);
  });

  it("of an older epoch is not begun after a newer one has ended", async () => {
    letGo.resolve();
    await table.begin({ epoch: 2 });
    await table.told("P02", "GAME_RESULT");
    expect(await table.begin({ epoch: 1 })).toMatchObject(refused("G005"));
    expect(results("R1M1")).toHaveLength(1);
  });
});
