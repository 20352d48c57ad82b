import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { sha256Hex } from "#shared/lib/hash.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import type { MessageType } from "#shared/protocol/envelope.ts";
import { abortedR1M1, rpcOf, startTestManager, type TestManager, type Wire, won } from "../testing/test-manager.ts";

let manager: TestManager;

beforeEach(async () => {
  manager = await startTestManager([
    { league_id: "rps", game: "rps.v1" },
    { league_id: "eo", game: "even_odd.v1" },
  ]);
});
afterEach(() => manager?.stop());

const tool: TestManager["tool"] = (...args) => manager.tool(...args);
const start = (league_id: string) => tool("start_league", { league_id }, manager.operator);
const FOREIGN = "http://192.0.2.1:8101/mcp";
const REJECTED = { status: "REJECTED", auth_token: null };

/** A player's registration as an envelope. */
const asPlayer = async (payload: object, token?: string): Promise<Wire> => {
  const registration = {
    display_name: "P01",
    version: "1",
    game_types: ["rps.v1"],
    contact_endpoint: manager.endpointOf("P01"),
  };
  return (await manager.message("PLAYER_REGISTER_REQUEST", "player:P01", { ...registration, ...payload }, token))
    .payload;
};
/** A referee's registration by its plain tool. */
const asReferee = (name: string, endpoint: string, token?: string): Promise<Wire> =>
  tool("register_referee", { referee_name: name, endpoint }, token);

describe("league operations", () => {
  const OPERATIONS: readonly (readonly [tool: string, type: MessageType, args: object, status: string])[] = [
    ["start_league", "START_LEAGUE", { league_id: "eo" }, "STARTED"],
    [
      "schedule_match",
      "SCHEDULE_MATCH",
      { league_id: "rps", player1_id: "P01", player2_id: "P02", round_id: 1 },
      "SCHEDULED",
    ],
    ["remove_player", "REMOVE_PLAYER", { player_id: "P01" }, "REMOVED"],
    ["forget_player", "FORGET_PLAYER", { player_id: "P01" }, "FORGOTTEN"],
  ];

  /** The public state that the operations change. */
  const publicState = async (): Promise<unknown> => [
    await manager.leagues(),
    (await manager.schedule("rps")).map(({ match_id }) => match_id),
    (await manager.schedule("eo")).map(({ match_id }) => match_id),
  ];

  it.each(OPERATIONS)("%s needs the operator token, as a tool and as a message", async (name, type, args, done) => {
    await manager.register("P01", "P02", "P03", "REF01");
    expect(await start("rps")).toMatchObject({ status: "STARTED" });
    const before = await publicState();
    const callers = [
      ["player:unknown", undefined],
      ["player:unknown", systemIds.token()],
      ["player:P01", manager.tokens.P01],
      ["referee:REF01", manager.tokens.REF01],
    ] as const;
    for (const [sender, token] of callers) {
      expect(await tool(name, args, token)).toMatchObject({ isError: true, error_code: "L004" });
      for (const toolName of ["league_message", name]) {
        const rejected = await manager.message(type, sender, args, token, toolName);
        expect(rejected).toMatchObject({ isError: true, type: "LEAGUE_ERROR", payload: { error_code: "L004" } });
      }
    }
    expect(await publicState()).toEqual(before);
    const accepted = await manager.message(type, "player:unknown", args, manager.operator);
    expect(accepted).toMatchObject({ isError: false, payload: { status: done } });
    expect(await publicState()).not.toEqual(before);
  });

  it("end_league needs the operator token, and completes a running league", async () => {
    await manager.register("P01", "P02", "REF01");
    const end = (token?: string) => tool("end_league", { league_id: "rps" }, token);
    expect(await end(manager.operator)).toMatchObject({ isError: true, error_code: "L005" });
    await start("rps");
    for (const token of [undefined, manager.tokens.P01, manager.tokens.REF01]) {
      expect(await end(token)).toMatchObject({ isError: true, error_code: "L004" });
    }
    expect(await tool("end_league", { league_id: "nowhere" }, manager.operator)).toMatchObject({ error_code: "L005" });
    expect(await end(manager.operator)).toMatchObject({ status: "ENDED", league_id: "rps" });
    expect(await end(manager.operator)).toMatchObject({ isError: true, error_code: "L005" });
    await vi.waitFor(async () => {
      const status = await tool("league_status", { league_id: "rps" }, manager.operator);
      const counts = { matches: 1, completed: 1, being_played: 0, current_round: null, expected_matches: 1 };
      expect(status.leagues).toMatchObject([{ status: "completed", ...counts }]);
    }, WAIT_OPTIONS);
  });

  it("schedule_match rejects an impossible match with the reason and adds no match", async () => {
    await manager.register("P01", "P02", "REF01");
    const match = { league_id: "rps", player1_id: "P01", player2_id: "P02", round_id: 2 };
    const schedule = (more: object = {}) => tool("schedule_match", { ...match, ...more }, manager.operator);
    const expectFault = async (more: object, error_code: string, message: string) => {
      const before = (await manager.schedule("rps")).length;
      expect(await schedule(more)).toMatchObject({ isError: true, error_code, message });
      expect(await manager.schedule("rps")).toHaveLength(before);
    };
    await expectFault({}, "L005", "league rps has not started; matches are added while it runs");
    const states = "rps has not started, eo has not started. Matches are added while a league runs";
    const message = `P01 and P02 are in no running league together: ${states}`;
    await expectFault({ league_id: undefined }, "L005", message);
    await start("rps");
    await expectFault({ league_id: "nowhere" }, "L005", "no league nowhere; there are rps, eo");
    await expectFault({ player1_id: "P09" }, "L004", "P09 is not in league rps");
    await expectFault({ player2_id: "REF01" }, "L004", "REF01 is not in league rps");
    await expectFault({ player1_id: "P09", league_id: undefined }, "L004", "no player P09 is registered");
    await expectFault({ player2_id: "REF01", league_id: undefined }, "L004", "no player REF01 is registered");
    await expectFault({ round_id: 3 }, "G003", "there is no round 3; choose a round from 1 to 2");
    const faults = [{ path: "player2_id", message: "a player cannot play against itself" }];
    expect(await schedule({ player2_id: "P01" })).toMatchObject({ code: -32602, data: { faults } });
    expect(await schedule()).toMatchObject({ status: "SCHEDULED", match_id: "R2M1" });
    await manager.assigned("rps", "R1M1");
    const reported = await manager.message("MATCH_RESULT", "referee:REF01", won(), manager.tokens.REF01);
    expect(reported).toMatchObject({ payload: { status: "RECORDED" } });
    await expectFault({ round_id: 1 }, "G005", "round 1 is over; choose a round from 2 to 3");
    expect(await schedule()).toMatchObject({ status: "SCHEDULED", match_id: "R2M2" });
    await start("eo");
    const choices = { choices: ["rps", "eo"] };
    expect(await schedule({ league_id: undefined })).toMatchObject({ error_code: "L005", context: choices });
  });
});

describe("schedule_match in a league of a game with four roles", () => {
  const IDS = ["P01", "P02", "P03", "P04"];
  const schedule = (more: object) =>
    tool("schedule_match", { league_id: "words", round_id: 1, ...more }, manager.operator);
  beforeEach(async () => {
    await manager.stop();
    manager = await startTestManager([{ league_id: "words", game: "codenames.v1" }]);
    await manager.register(...IDS, "REF01");
    expect(await start("words")).toMatchObject({ status: "STARTED" });
  });

  it("adds a match of the players, in the order of the roles", async () => {
    const players = ["P03", "P01", "P04", "P02"];
    const roles = { red_spymaster: "P03", red_team: "P01", blue_spymaster: "P04", blue_team: "P02" };
    const before = (await manager.schedule("words")).length;
    expect(await schedule({ players })).toMatchObject({ status: "SCHEDULED", league_id: "words", roles });
    expect(await manager.schedule("words")).toHaveLength(before + 1);
  });

  it("rejects a wrong number of players, a repeated player, missing players, and players named in both ways", async () => {
    const two = { player1_id: "P01", player2_id: "P02" };
    const count = "a match of league words is between 4 different players";
    expect(await schedule(two)).toMatchObject({ isError: true, error_code: "L004", message: count });
    const faultOf = async (more: object) => (await schedule(more)).data.faults[0];
    const itself = "a player cannot play against itself";
    expect(await faultOf({ players: ["P01", "P01", "P02", "P03"] })).toEqual({ path: "players", message: itself });
    expect(await faultOf({})).toMatchObject({ path: "player1_id" });
    expect(await faultOf({ ...two, players: IDS })).toMatchObject({ path: "players" });
  });
});

it("remove_player does not change a round that has begun and forfeits the player's matches of later rounds", async () => {
  await manager.register("P01", "P02", "P03", "REF01");
  await start("rps");
  await manager.assigned("rps", "R1M1");
  // The Berger table pairs P02 and P03 in the first round of three players.
  const played = { roles: { player_1: "P02", player_2: "P03" } };
  const remove = await tool("remove_player", { player_id: "P02" }, manager.operator);
  expect(remove).toMatchObject({ status: "REMOVED" });
  expect(await manager.schedule("rps")).toMatchObject([{ ...played, round_id: 1, status: "assigned" }, {}, {}]);
  const aborted = { ...abortedR1M1(), league_id: "rps" };
  for (const epoch of [1, 2, 3]) {
    await manager.assigned("rps", "R1M1");
    const reported = await manager.message(
      "MATCH_RESULT",
      "referee:REF01",
      { ...aborted, epoch },
      manager.tokens.REF01,
    );
    expect(reported).toMatchObject({ payload: { status: "RECORDED" } });
  }
  await vi.waitFor(async () => {
    const later = (await manager.schedule("rps")).slice(1);
    const withP02 = later.filter(({ roles }) => Object.values(roles).includes("P02"));
    expect(withP02).toMatchObject([{ status: "completed", termination: "forfeit", reason: "removed_by_operator" }]);
  }, WAIT_OPTIONS);
  const { body } = await manager.post(rpcOf("tools/list"));
  const { description } = body.result.tools.find(({ name }: Wire) => name === "remove_player");
  expect(description).toContain(
    "a round that has begun is played to its end, and the player's matches of later rounds are forfeited",
  );
});

it("the manager offers its transports to referees that offer theirs", async () => {
  const registered = async (display_name: string, port: number, more: object) => {
    const contact_endpoint = `http://127.0.0.1:${port}/mcp`;
    const request = { display_name, game_types: ["rps.v1"], contact_endpoint, ...more };
    return (await manager.message("REFEREE_REGISTER_REQUEST", `referee:${display_name}`, request)).payload;
  };
  const offered = await registered("A", 9101, { transports: ["websocket"] });
  expect(offered).toMatchObject({ status: "ACCEPTED", transports: ["websocket"] });
  expect(Object.keys(await registered("B", 9102, {}))).toEqual(
    Object.keys(offered).filter((field) => field !== "transports"),
  );
});

describe("an endpoint", () => {
  it("of a referee at another address is rejected", async () => {
    expect(await asReferee("REF01", FOREIGN)).toMatchObject({ ...REJECTED, referee_id: null, error_code: "L001" });
    await manager.register("REF01");
    const again = await asReferee("REF01", FOREIGN, manager.tokens.REF01);
    expect(again).toMatchObject({ ...REJECTED, error_code: "L001" });
    expect(manager.storedEndpoints()).toEqual({ REF01: manager.endpointOf("REF01") });
  });

  it("of a returning player at another address is rejected, and the player keeps its endpoint", async () => {
    await manager.register("P01");
    const again = await asPlayer({ contact_endpoint: FOREIGN }, manager.tokens.P01);
    expect(again).toMatchObject({ ...REJECTED, player_id: null, error_code: "L001" });
    expect(manager.storedEndpoints()).toEqual({ P01: manager.endpointOf("P01") });
    const moved = manager.endpointOf("moved");
    expect(await asPlayer({ contact_endpoint: moved }, manager.tokens.P01)).toMatchObject({ status: "ACCEPTED" });
    expect(manager.storedEndpoints()).toEqual({ P01: moved });
  });
});

describe("a name or endpoint of a registered agent", () => {
  const L003 = { ...REJECTED, error_code: "L003" };

  it("is rejected for another referee", async () => {
    await manager.register("REF01", "REF02");
    expect(await asReferee("REF01", manager.endpointOf("REF03"))).toMatchObject(L003);
    expect(await asReferee("REF03", manager.endpointOf("REF01"))).toMatchObject(L003);
    expect(await asReferee("REF02", manager.endpointOf("REF01"), manager.tokens.REF02)).toMatchObject(L003);
    expect(manager.storedEndpoints()).toEqual({
      REF01: manager.endpointOf("REF01"),
      REF02: manager.endpointOf("REF02"),
    });
  });

  it("is recognized when the endpoint is written in another form", async () => {
    await manager.register("P01");
    const registered = new URL(manager.endpointOf("P01"));
    const aliases = ["/P01?x", "/P01/", "/P01#x", "//P01", "/p01", "/%5001"].map(
      (path) => `${registered.origin}${path}`,
    );
    for (const host of ["[::1]", "127.0.0.2", "LOCALHOST"]) aliases.push(`http://${host}:${registered.port}/P01`);
    for (const contact_endpoint of aliases) {
      expect(await asPlayer({ display_name: "Cheat", contact_endpoint }), contact_endpoint).toMatchObject(L003);
    }
    expect(manager.storedEndpoints()).toEqual({ P01: registered.href });
  });

  it("is not given to a player that registers again with its own token", async () => {
    await manager.register("P01", "P02");
    const { P01, P02 } = manager.tokens;
    const p01 = manager.endpointOf("P01");
    const p02 = manager.endpointOf("P02");
    expect(await asPlayer({ display_name: "P02", contact_endpoint: p01 }, P02)).toMatchObject(L003);
    expect(await asPlayer({ display_name: "P01", contact_endpoint: p02 }, P02)).toMatchObject(L003);
    expect(await asPlayer({ display_name: "P02", contact_endpoint: manager.endpointOf("x") }, P01)).toMatchObject(L003);
    expect(manager.storedEndpoints()).toEqual({ P01: p01, P02: p02 });
  });

  it("is not given to a caller that knows only the hash of a token", async () => {
    await manager.register("P01");
    expect(await asPlayer({}, sha256Hex(manager.tokens.P01 ?? ""))).toMatchObject(L003);
  });
});

describe("a rejected registration", () => {
  const players = async () => (await manager.leagues()).map(({ players }) => players);

  it("for several leagues enters none of them", async () => {
    const rejected = await asPlayer({ league_ids: ["rps", "nowhere"] });
    expect(rejected).toMatchObject({ ...REJECTED, player_id: null, league_ids: [], error_code: "L005" });
    expect(await players()).toEqual([0, 0]);
  });

  it("for a running league does not change the entrants", async () => {
    await manager.register("P01", "P02", "REF01");
    await start("rps");
    const lateRegistration = { display_name: "Late", contact_endpoint: manager.endpointOf("Late") };
    expect(await asPlayer({ ...lateRegistration, league_ids: ["rps"] })).toMatchObject({
      ...REJECTED,
      error_code: "L001",
    });
    expect(await asPlayer(lateRegistration)).toMatchObject({ ...REJECTED, error_code: "L001" });
    expect(await players()).toEqual([2, 2]);
    expect(await tool("get_standings", { league_id: "rps" })).toMatchObject({
      standings: [{ player_id: "P01" }, { player_id: "P02" }],
    });
  });
});
