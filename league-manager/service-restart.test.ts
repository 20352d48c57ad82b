import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import { removePlayer } from "./commands/agent-commands.ts";
import { recorded, renamedReferees, withoutP02 } from "./testing/decisions.ts";
import { aborted, played, timedOut } from "./testing/results.ts";
import { startScriptedLeague } from "./testing/scripted-league.ts";

const RECORDED = { payload: { status: "RECORDED" } };
const REJECTED = { isError: true, payload: { error_code: "L004" } };
const NO_PROBE_ANSWERED = (): boolean => false;

describe.concurrent("a restarted manager", () => {
  it("accepts the result of a match only from the referee that the match is assigned to now", async (test) => {
    const league = await startScriptedLeague(test, { referees: 2 });
    await league.begin();
    const former = await league.order("REF01", "R1M1");
    expect(former.epoch).toBe(1);
    league.referee("REF01").answersProbe = NO_PROBE_ANSWERED;
    expect(await league.order("REF02", "R1M1")).toMatchObject({ epoch: 2 });
    await league.restart();
    const order = await league.order("REF02", "R1M1");
    expect(order).toMatchObject({ epoch: 2, run_id: former.run_id });
    expect(await league.report("REF01", played(former))).toMatchObject(REJECTED);
    expect(await league.report("REF02", played(order))).toMatchObject(RECORDED);
  });

  it("knows an erased player only by its id, sends it no message, and completes its league", async (test) => {
    const league = await startScriptedLeague(test, { players: 3 });
    await league.begin();
    const order = await league.order("REF01", "R1M1");
    const operator = readFileSync(join(league.dataFolder, "operator-token"), "utf8").trim();
    const forget = (player_id: string) =>
      league.send("FORGET_PLAYER", "league_manager:operator", { player_id }, operator);
    expect(await forget("P02")).toMatchObject({ isError: true, payload: { error_code: "L001" } });
    expect(await forget("P01")).toMatchObject({ payload: { status: "FORGOTTEN", player_id: "P01" } });
    const received = league.player("P01").received.length;
    expect(await league.report("REF01", played(order))).toMatchObject(RECORDED);
    const { leagues } = await league.completion();
    expect(leagues[0]?.matches.map(({ termination }) => termination)).toEqual(["normal", "forfeit", "forfeit"]);
    expect(league.player("P01").received.length).toBe(received);
    await league.restart();
    expect(await league.storedAgent("P01")).toMatchObject({ name: "P01", salt: "", endpoint: "", tokenHash: "" });
    expect((await league.completion()).leagues[0]?.standings).toEqual(leagues[0]?.standings);
    expect(await forget("P02")).toMatchObject({ payload: { status: "FORGOTTEN" } });
  });

  it("keeps the epoch of a match that is not assigned", async (test) => {
    const league = await startScriptedLeague(test);
    await league.begin();
    const former = await league.order("REF01", "R1M1");
    league.referee("REF01").answersProbe = NO_PROBE_ANSWERED;
    const isDown = expect.objectContaining({ message: expect.stringContaining("referee REF01 does not answer") });
    await vi.waitFor(() => expect(league.events()).toContainEqual(isDown), WAIT_OPTIONS);
    await league.report("REF01", aborted(former));
    await vi.waitFor(
      async () => expect(await league.matches()).toMatchObject([{ epoch: 2, status: "scheduled", refereeId: null }]),
      WAIT_OPTIONS,
    );
    await league.restart(() => {
      league.referee("REF01").answersProbe = () => true;
    });
    const order = await league.order("REF01", "R1M1");
    expect(order.epoch).toBe(2);
    expect(await league.report("REF01", played(former))).toMatchObject(REJECTED);
    expect(await league.report("REF01", played(order))).toMatchObject(RECORDED);
  });

  it("keeps the assignment of a match even if it would choose another referee now", async (test) => {
    const league = await startScriptedLeague(test, { referees: 2 });
    await league.begin();
    await league.report("REF01", aborted(await league.order("REF01", "R1M1")));
    expect(await league.order("REF02", "R1M1")).toMatchObject({ epoch: 2 });
    await league.restart();
    const order = await league.order("REF02", "R1M1");
    expect(order.epoch).toBe(2);
    expect(await league.report("REF02", played(order))).toMatchObject(RECORDED);
    await league.completion();
    expect(league.referee("REF01").orders()).toEqual([]);
  });

  it("assigns the matches of a round in the order of the referees' numbers, REF99 before REF100", async (test) => {
    const league = await startScriptedLeague(test, { players: 4, referees: 2 });
    await league.restart(() => league.change(renamedReferees(league)));
    await league.begin();
    await vi.waitFor(
      async () =>
        expect((await league.matches()).slice(0, 2)).toMatchObject([
          { matchId: "R1M1", refereeId: "REF99" },
          { matchId: "R1M2", refereeId: "REF100" },
        ]),
      WAIT_OPTIONS,
    );
  });

  it("continues to count the aborted attempts of a match", async (test) => {
    const league = await startScriptedLeague(test, { maxConcurrent: 1 });
    await league.begin(1);
    await league.report("REF01", aborted(await league.order("REF01", "R1M1")));
    // The referee has no free capacity, so the new epoch of the match is only in the file.
    await league.order("REF01", "R1M2");
    await league.restart();
    await league.report("REF01", played(await league.order("REF01", "R1M2")));
    const second = await league.order("REF01", "R1M1");
    expect(second.epoch).toBe(2);
    await league.report("REF01", aborted(second));
    const orders = () => league.referee("REF01").orders();
    await vi.waitFor(() => expect(orders().at(-1)).toMatchObject({ match_id: "R1M1", epoch: 3 }), WAIT_OPTIONS);
    const third = orders().at(-1);
    expect(await league.report("REF01", aborted(third ?? second))).toMatchObject(RECORDED);
    const [rps] = (await league.completion()).leagues;
    expect(rps?.matches.map(({ match_id, termination }) => [match_id, termination])).toEqual([
      ["R1M1", "aborted"],
      ["R1M2", "normal"],
    ]);
  });

  it("keeps the random seed of its first start", async (test) => {
    const league = await startScriptedLeague(test, { seed: null });
    await league.begin();
    const { seed } = await league.order("REF01", "R1M1");
    await league.restart();
    expect((await league.order("REF01", "R1M1")).seed).toBe(seed);
  });

  it("starts only the matches of a round that have no result", async (test) => {
    const league = await startScriptedLeague(test);
    await league.begin(1);
    const [first, second] = [await league.order("REF01", "R1M1"), await league.order("REF01", "R1M2")];
    expect(await league.report("REF01", played(first))).toMatchObject(RECORDED);
    await league.restart();
    expect(await league.order("REF01", "R1M2")).toEqual(second);
    expect(await league.report("REF01", played(second))).toMatchObject(RECORDED);
    const [rps] = (await league.completion()).leagues;
    expect(rps?.matches.map(({ match_id }) => match_id)).toEqual(["R1M1", "R1M2"]);
    const order = league.referee("REF01").orders();
    expect(order.map(({ match_id }) => match_id)).toEqual(["R1M2"]);
  });

  it("completes a league if it was killed directly after its last result was stored", async (test) => {
    const league = await startScriptedLeague(test);
    await league.begin();
    const last = played(await league.order("REF01", "R1M1"));
    await league.restart(() => league.change(recorded(last)));
    expect((await league.completion()).leagues).toMatchObject([
      { status: "completed", matches: [{ match_id: "R1M1" }] },
    ]);
    for (const id of ["P01", "P02", "REF01"]) expect((await league.storedAgent(id)).state).toBe("SHUTDOWN");
  });

  it("continues to count the matches that a player has lost by timeout", async (test) => {
    const league = await startScriptedLeague(test);
    await league.begin(3);
    const lose = async (matchId: string): Promise<void> => {
      const result = timedOut(await league.order("REF01", matchId), "P01");
      expect(await league.report("REF01", result)).toMatchObject(RECORDED);
    };
    const ofP01 = () => league.storedAgent("P01");
    await lose("R1M1");
    await lose("R1M2");
    expect(await ofP01()).toMatchObject({ fails: 2 });
    await league.restart();
    await lose("R1M3");
    expect(await ofP01()).toMatchObject({ state: "SHUTDOWN", fails: 3 });
  });

  it("plays all matches of a round that had begun, including those of a removed player", async (test) => {
    const league = await startScriptedLeague(test, { maxConcurrent: 1 });
    await league.begin(1);
    const assigned = await league.order("REF01", "R1M1");
    await league.restart(() => league.change(removePlayer("P01")));
    expect(await league.report("REF01", played(assigned))).toMatchObject(RECORDED);
    const waiting = await league.order("REF01", "R1M2");
    expect(await league.report("REF01", played(waiting))).toMatchObject(RECORDED);
    const [rps] = (await league.completion()).leagues;
    expect(rps?.matches).toMatchObject([{ termination: "normal" }, { termination: "normal" }]);
  });

  it("forfeits the matches of a removed player in rounds that had not begun", async (test) => {
    const league = await startScriptedLeague(test, { players: 3 });
    await league.begin();
    const first = played(await league.order("REF01", "R1M1"));
    await league.restart(async () => {
      await league.change(recorded(first));
      await league.change(removePlayer("P01"));
    });
    const [rps] = (await league.completion()).leagues;
    expect(rps?.matches.map(({ reason }) => reason)).toEqual([
      expect.not.stringMatching("removed"),
      "removed_by_operator",
      "removed_by_operator",
    ]);
    expect(league.referee("REF01").orders()).toEqual([]);
  });

  it("continues the other leagues when one league cannot continue", async (test) => {
    const league = await startScriptedLeague(test, { players: 3, laterLeagues: ["later"] });
    await league.begin();
    await league.order("REF01", "R1M1");
    await league.restart(async () => {
      await league.change(withoutP02);
      await league.change(removePlayer("P01"));
    });
    const completed = () => league.events().filter((event) => event.type === "league_completed");
    await vi.waitFor(() => expect(completed()).toMatchObject([{ league_id: "later" }]), WAIT_OPTIONS);
    const message = expect.stringMatching(/^rps cannot continue: .*rps\/R1M1 has a registered player/);
    await vi.waitFor(() => expect(league.events()).toContainEqual({ type: "notice", message }), WAIT_OPTIONS);
  });

  it("starts no match before its players listen again", async (test) => {
    const league = await startScriptedLeague(test);
    await league.begin();
    await league.order("REF01", "R1M1");
    const players = [league.player("P01"), league.player("P02")];
    for (const player of players) await player.close();
    const referee = league.referee("REF01");
    await league.restart(() => {
      referee.answersProbe = () => true;
    });
    // A player that is invited before it listens loses the match after join_ms. The first probe shows that the manager has already tried to hand over
    // its matches: it probes its referees a second after its start.
    await vi.waitFor(() => expect(referee.probes()).toBeGreaterThan(0), WAIT_OPTIONS);
    expect(league.referee("REF01").orders()).toEqual([]);
    for (const player of players) await player.listen();
    const order = await league.order("REF01", "R1M1");
    expect(await league.report("REF01", played(order))).toMatchObject(RECORDED);
    expect((await league.completion()).leagues[0]?.matches).toMatchObject([{ termination: "normal" }]);
  });

  it("sends a referee that registers before its players listen again the matches that are assigned to it", async (test) => {
    const league = await startScriptedLeague(test);
    await league.begin();
    const order = await league.order("REF01", "R1M1");
    const players = [league.player("P01"), league.player("P02")];
    for (const player of players) await player.close();
    await league.restart();
    const { url, token } = league.referee("REF01");
    const registration = { display_name: "REF01", version: "1.0.0", game_types: ["rps.v1"], contact_endpoint: url };
    const answering = league.send("REFEREE_REGISTER_REQUEST", "referee:REF01", registration, token);
    for (const player of players) await player.listen();
    expect((await answering).payload).toMatchObject({ status: "ACCEPTED", matches: [order] });
  });

  it("sends a referee that registers again exactly the matches that are assigned to it", async (test) => {
    const league = await startScriptedLeague(test, { referees: 2 });
    await league.begin(1);
    await league.order("REF01", "R1M1");
    await league.order("REF02", "R1M2");
    await league.restart();
    const assignments = [
      ["REF01", "R1M1"],
      ["REF02", "R1M2"],
    ] as const;
    for (const [id, matchId] of assignments) {
      const order = await league.order(id, matchId);
      const { url, token } = league.referee(id);
      const registration = { display_name: id, version: "1.0.0", game_types: ["rps.v1"], contact_endpoint: url };
      const answer = await league.send("REFEREE_REGISTER_REQUEST", `referee:${id}`, registration, token);
      expect(answer.payload).toMatchObject({ status: "ACCEPTED", referee_id: id, auth_token: token });
      expect(answer.payload.matches).toEqual([order]);
    }
  });
});
