import { describe, expect, onTestFinished, test, vi } from "vitest";
import { isSignedFor } from "#shared/protocol/signing.ts";
import type { Peers } from "#shared/rpc/peer/peer.ts";
import { openLog } from "#shared/runtime/process/logger.ts";
import { aborted, played } from "../../testing/results.ts";
import { startTestLeague, type TestLeague } from "../testing/league.ts";

const refereesOf = (league: TestLeague): (string | null)[] => league.round().map(({ refereeId }) => refereeId);

describe("dispatch", () => {
  test("a referee has at most max_concurrent_matches matches at the same time", async () => {
    const league = await startTestLeague({ players: 0, referees: 0, minPlayers: 10 });
    await league.registerReferee("REF01", 2);
    await league.registerReferee("REF02", 1);
    for (let n = 1; n <= 10; n++) await league.registerPlayer(`P${String(n).padStart(2, "0")}`);
    await league.eventually(() => expect(refereesOf(league).filter(Boolean)).toHaveLength(3));
    await league.clock.advance(3_000);
    expect(refereesOf(league)).toEqual(["REF01", "REF02", "REF01", null, null]);
    await league.report("REF02", played(await league.order("REF02", "R1M2")));
    await league.eventually(() => expect(refereesOf(league)).toEqual(["REF01", "REF02", "REF01", "REF02", null]));
  });

  test("the matches of a round are distributed over the referees in a fixed order", async () => {
    const league = await startTestLeague({ players: 8, referees: 2 });
    await league.eventually(() => expect(refereesOf(league)).toEqual(["REF01", "REF02", "REF01", "REF02"]));
    await league.order("REF01", "R1M3");
    await league.order("REF02", "R1M4");
  });

  test("a player of another dialect has one match at a time over all leagues, and no command is tried in vain", async () => {
    const log = openLog(null, "test");
    const logged = vi.spyOn(log, "debug");
    const league = await startTestLeague({ players: 0, minPlayers: 2, leagues: ["rps", "b"], log });
    await league.registerPlayer("P01");
    await league.registerPlayer("P02", undefined, {}, "league.v1");
    const states = (): readonly (string | undefined)[] =>
      ["rps", "b"].map((leagueId) => league.round(1, leagueId)[0]?.status);
    await league.eventually(() => expect(states()).toEqual(["assigned", "scheduled"]));
    await league.clock.advance(3_000);
    expect(states()).toEqual(["assigned", "scheduled"]);
    await league.report("REF01", played(await league.order("REF01", "R1M1")));
    await league.eventually(() => expect(states()).toEqual(["completed", "assigned"]));
    expect(logged.mock.calls.filter(([, text]) => String(text).includes("rejected"))).toEqual([]);
  });

  test("START_GAME has the results so far of a player of another dialect, and only of such a player", async () => {
    const league = await startTestLeague({ players: 0, minPlayers: 3 });
    for (const id of ["P01", "P02"]) await league.registerPlayer(id);
    await league.registerPlayer("P03", undefined, {}, "league.v1");
    const standingsIn = async (matchId: string): Promise<Readonly<Record<string, unknown>>> => {
      const { roles } = await league.order("REF01", matchId);
      return Object.fromEntries(Object.values(roles).map(({ player_id, standings }) => [player_id, standings]));
    };
    const seen = [];
    for (const matchId of ["R1M1", "R2M1", "R3M1"]) {
      seen.push(await standingsIn(matchId));
      await league.report("REF01", played(await league.order("REF01", matchId)));
    }
    expect(seen.flatMap((standings) => ("P03" in standings ? [standings.P03] : []))).toEqual([
      { wins: 0, draws: 0, losses: 0 },
      { wins: 0, draws: 0, losses: 1 },
    ]);
    expect(seen.flatMap(({ P01, P02 }) => [P01, P02])).toEqual(Array(6).fill(undefined));
  });

  test("a match goes to the referee of which the least part is occupied", async () => {
    const league = await startTestLeague({ players: 0, referees: 0, minPlayers: 12 });
    await league.registerReferee("REF01", 2);
    await league.registerReferee("REF02", 8);
    for (let n = 1; n <= 12; n++) await league.registerPlayer(`P${String(n).padStart(2, "0")}`);
    await league.eventually(() => expect(refereesOf(league).filter(Boolean)).toHaveLength(6));
    expect(refereesOf(league)).toEqual(["REF01", "REF02", "REF02", "REF02", "REF02", "REF02"]);
  });

  test("START_GAME is signed for its referee, and each match token for its player", async () => {
    const league = await startTestLeague();
    const { roles } = await league.order("REF01", "R1M1");
    const [envelope] = league.agent("REF01").of("START_GAME");
    expect(isSignedFor(league.agent("REF01").token, "rps/R1M1", envelope?.auth_token ?? "")).toBe(true);
    for (const { player_id, match_token } of Object.values(roles)) {
      expect(isSignedFor(league.agent(player_id).token, "rps/R1M1", match_token)).toBe(true);
    }
  });

  test("START_GAME has the names of the players", async () => {
    const league = await startTestLeague({ players: 0, minPlayers: 2 });
    await league.registerPlayer("P01", undefined, { display_name: "Ann" });
    await league.registerPlayer("P02", undefined, { display_name: "Bob \u05d1" });
    const { roles } = await league.order("REF01", "R1M1");
    const names = Object.values(roles).map(({ player_id, display_name }) => [player_id, display_name]);
    expect(names.sort()).toEqual([
      ["P01", "Ann"],
      ["P02", "Bob \u05d1"],
    ]);
  });

  test("an aborted match is assigned to another referee, and to the first again when both have failed", async () => {
    const league = await startTestLeague({ referees: 2 });
    await league.report("REF01", aborted(await league.order("REF01", "R1M1")));
    await league.report("REF02", aborted(await league.order("REF02", "R1M1", 2)));
    expect(await league.order("REF01", "R1M1", 3)).toMatchObject({ epoch: 3 });
  });

  test("matches of a game that no referee plays wait with one notice until such a referee registers", async () => {
    const league = await startTestLeague({ players: 0, referees: 0, minPlayers: 4 });
    await league.registerReferee("REF01", 64, ["chess.v1"]);
    for (const id of ["P01", "P02", "P03", "P04"]) await league.registerPlayer(id);
    await league.eventually(() => expect(league.notices).toHaveLength(1));
    await league.clock.advance(5_000);
    expect(league.notices).toEqual(["rps R1M1 (and 1 more match) waits: no referee that answers plays rps.v1"]);
    expect(refereesOf(league)).toEqual([null, null]);
    await league.registerReferee("REF02");
    await league.order("REF02", "R1M2");
    expect(refereesOf(league)).toEqual(["REF02", "REF02"]);
  });

  test("endpoints of players are parsed only once, even if no referee can reach them", async () => {
    const network = (peers: Peers): Peers => ({ ...peers, probe: async () => "alive" });
    const league = await startTestLeague({ players: 0, minPlayers: 20, network });
    const profile = { name: "REF01", salt: "s", endpoint: "http://203.0.113.7:8001/mcp", tokenHash: "h" };
    await league.ledger().execute(() => ({
      ok: true,
      value: {
        agentEvents: [{ agentId: "REF01", event: { type: "endpoint_lost" } }],
        writes: [{ type: "profile", agentId: "REF01", profile }],
        reply: null,
      },
    }));
    for (let n = 1; n <= 20; n++) await league.registerPlayer(`P${String(n).padStart(2, "0")}`);
    await league.eventually(() =>
      expect(league.notices.at(-1)).toMatch(/R1M1 \(and 9 more matches\) waits: no referee that answers can reach/),
    );
    const parse = vi.spyOn(URL, "parse");
    onTestFinished(() => parse.mockRestore());
    league.effects().onRefereeRegistered("REF01");
    await league.clock.nextTurn();
    await league.clock.nextTurn();
    expect(parse.mock.calls).toEqual([[profile.endpoint]]);
  });
});
