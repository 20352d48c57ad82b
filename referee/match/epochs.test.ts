import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { signed, startTestReferee, type TestReferee } from "../testing/match.ts";

/** P02 answers its move request in R1M1 when this is resolved. All other requests are answered immediately. */
let mayAnswer = Promise.withResolvers<void>();
let referee: TestReferee;
beforeEach(async () => {
  mayAnswer = Promise.withResolvers();
  referee = await startTestReferee({
    async move({ to, payload }) {
      if (to === "P02" && payload.match_id === "R1M1") await mayAnswer.promise;
      return null;
    },
  });
});
afterEach(async () => {
  mayAnswer.resolve();
  await referee.stop();
});

const rejection = (code: string) => ({ isError: true, payload: { error_code: code } });
const results = (matchId: string): readonly object[] =>
  referee.received
    .filter(({ type, payload }) => type === "MATCH_RESULT" && payload.match_id === matchId)
    .map(({ payload }) => ({ epoch: payload.epoch, termination: payload.termination, winner: payload.winner }));

describe("MATCH_WITHDRAWN", () => {
  const withdraw = (epoch: number, signature: string | undefined) =>
    referee.send("MATCH_WITHDRAWN", { league_id: "rps", match_id: "R1M1", epoch }, signature);

  it("without the manager's signature for this match is rejected, and the match ends normally", async () => {
    await referee.begin();
    await referee.waitFor("P02", "MOVE_REQUEST");
    for (const signature of [undefined, "", "wrong", signed("rps/R1M2"), signed("rps"), signed("go/R1M1")]) {
      expect(await withdraw(1, signature), `signed ${signature}`).toMatchObject(rejection("L004"));
    }
    mayAnswer.resolve();
    await referee.waitFor("manager", "MATCH_RESULT");
    expect(results("R1M1")).toEqual([{ epoch: 1, termination: "normal", winner: "P01" }]);
  });

  it("closes the open request, and no result is reported", async () => {
    await referee.begin();
    const request = await referee.waitFor("P02", "MOVE_REQUEST");
    expect(await withdraw(1, signed())).toMatchObject({ isError: false, type: "ACK" });
    await request.closed;
    mayAnswer.resolve();
    // The result of R1M1 would have been reported before the end of another match.
    await referee.begin({ match_id: "R1M2" });
    await referee.waitFor("P02", "GAME_RESULT", "R1M2");
    expect(results("R1M1")).toEqual([]);
    const requests = referee.received.filter(
      ({ type, payload }) => type === "MOVE_REQUEST" && payload.match_id === "R1M1",
    );
    expect(requests.map(({ to }) => to).sort()).toEqual(["P01", "P02"]);
    const withdrawn = await referee.tool("get_game_state", { match_id: "R1M1" });
    expect(withdrawn).toMatchObject({ status: "completed", termination: "aborted" });
    expect(withdrawn.reason).toBe("the match was assigned to another referee");
  });

  it("of an older epoch does not affect the newer one", async () => {
    await referee.begin({ epoch: 2 });
    await referee.waitFor("P02", "MOVE_REQUEST");
    expect(await withdraw(1, signed())).toMatchObject({ isError: false, type: "ACK" });
    mayAnswer.resolve();
    await referee.waitFor("manager", "MATCH_RESULT");
    expect(results("R1M1")).toEqual([{ epoch: 2, termination: "normal", winner: "P01" }]);
  });
});

describe("START_GAME", () => {
  it("of an older epoch is rejected, and the newer one is played to its result", async () => {
    const begun = await referee.begin({ epoch: 2 });
    await referee.waitFor("P02", "MOVE_REQUEST");
    expect(await referee.begin({ epoch: 1 })).toMatchObject(rejection("G005"));
    mayAnswer.resolve();
    await referee.waitFor("P02", "GAME_RESULT");
    expect(results("R1M1")).toEqual([{ epoch: 2, termination: "normal", winner: "P01" }]);
    expect(referee.received.filter(({ payload }) => payload.epoch === 1)).toEqual([]);
    expect((await referee.tool("get_game_state", { match_id: "R1M1" })).session_id).toBe(begun.payload.session_id);
  });

  it("of a newer epoch replaces the older one", async () => {
    await referee.begin({ epoch: 1 });
    const request = await referee.waitFor("P02", "MOVE_REQUEST", "R1M1", 1);
    expect(await referee.begin({ epoch: 2 })).toMatchObject({ isError: false, payload: { status: "ACCEPTED" } });
    await request.closed;
    await referee.waitFor("P02", "MOVE_REQUEST", "R1M1", 2);
    mayAnswer.resolve();
    await referee.waitFor("P02", "GAME_RESULT");
    expect(results("R1M1")).toEqual([{ epoch: 2, termination: "normal", winner: "P01" }]);
  });

  it.each([
    ["older first", [1, 2]],
    ["newer first", [2, 1]],
  ] as const)("of two epochs at the same time starts the newer one, %s", async (_order, epochs) => {
    const [first, second] = await Promise.all(epochs.map((epoch) => referee.begin({ epoch })));
    mayAnswer.resolve();
    await referee.waitFor("P02", "GAME_RESULT");
    expect(results("R1M1")).toEqual([{ epoch: 2, termination: "normal", winner: "P01" }]);
    const newer = epochs[0] === 2 ? first : second;
    expect(newer).toMatchObject({ isError: false, payload: { status: "ACCEPTED" } });
    if (epochs[0] === 2) expect(second).toMatchObject(rejection("G005"));
    expect((await referee.tool("get_game_state", { match_id: "R1M1" })).session_id).toBe(newer?.payload.session_id);
  });

  it("that is sent several times at the same time starts one session", async () => {
    const answers = await Promise.all([referee.begin(), referee.begin(), referee.begin()]);
    mayAnswer.resolve();
    await referee.waitFor("P02", "GAME_RESULT");
    expect(new Set(answers.map(({ payload }) => payload.session_id)).size).toBe(1);
    expect(results("R1M1")).toHaveLength(1);
  });

  it("with a signature for the league instead of the match is rejected", async () => {
    expect(await referee.send("START_GAME", referee.order(), signed("rps"))).toMatchObject(rejection("L004"));
    expect(await referee.tool("start_game", { ...referee.order(), auth_token: signed("rps") })).toMatchObject({
      isError: true,
      error_code: "L004",
    });
    expect(await referee.tool("get_game_state", { match_id: "R1M1" })).toMatchObject({ isError: true });
  });
});

describe("START_GAME of a withdrawn or earlier epoch", () => {
  const withdraw = (epoch: number) =>
    referee.send("MATCH_WITHDRAWN", { league_id: "rps", match_id: "R1M1", epoch }, signed());

  it("is rejected with G005 if the match was withdrawn", async () => {
    mayAnswer.resolve();
    await Promise.all([referee.begin(), withdraw(1)]);
    expect(await referee.begin()).toMatchObject(rejection("G005"));
    // A newer epoch is accepted.
    await referee.begin({ epoch: 2 });
    await referee.waitFor("manager", "MATCH_RESULT");
    expect(results("R1M1")).toEqual([{ epoch: 2, termination: "normal", winner: "P01" }]);
  });

  it("is rejected with G005 after a newer epoch has ended", async () => {
    mayAnswer.resolve();
    await referee.begin({ epoch: 2 });
    await referee.waitFor("P02", "GAME_RESULT");
    expect(await referee.begin({ epoch: 1 })).toMatchObject(rejection("G005"));
    expect(results("R1M1")).toHaveLength(1);
  });
});
