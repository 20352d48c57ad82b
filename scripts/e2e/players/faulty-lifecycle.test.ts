import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, type TestContext, vi } from "vitest";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import type { LiveEvent } from "../../../league-manager/projections/live-events.ts";
import { stateLine } from "../../../league-manager/projections/live-lines.ts";
import { storedState } from "../../../league-manager/testing/stored-state.ts";
import {
  type FaultyPlayer,
  type FaultyPlayerOptions,
  type ReceivedMessage,
  startFaultyPlayer,
} from "../../testing/faulty-player.ts";
import {
  callRpc,
  startTestLeague,
  type TestLeague,
  type TestLeagueOptions,
  type TestPlayer,
} from "../../testing/in-process-league.ts";
import { cleanUp } from "../../testing/processes.ts";
import { RPS, run, runFolders, testLeague } from "../../testing/test-league.ts";

/** The league waits for silent players for this time. The other players must answer within them on a slow machine. */
const TIMEOUTS = { move_ms: 10_000, join_ms: 10_000 };

/** Starts a league that is stopped at the end of the test. The tests run concurrently, because they wait for silent players. */
async function start(test: TestContext, options: TestLeagueOptions): Promise<TestLeague> {
  const league = await startTestLeague({ ...options, timeouts: { ...TIMEOUTS, ...options.timeouts } });
  test.onTestFinished(() => league.stop());
  return league;
}

const rps = [{ league_id: "rps", game: "rps.v1" }];
const good = (name: string): TestPlayer => ({ name, bot: "random" });
const silent = (name: string, when: FaultyPlayerOptions["when"] = () => true): TestPlayer => ({
  name,
  start: (place): Promise<FaultyPlayer> => startFaultyPlayer({ ...place, fault: "silent", when }),
});

/** Reads the state and the number of failures of an agent from the manager's store. */
async function stateKept(dataFolder: string, agentId: string): Promise<unknown> {
  const { agents } = await storedState(dataFolder, ["rps"]);
  const agent = agents.get(agentId);
  return agent && { state: agent.state, fails: agent.fails };
}

interface ReadResult {
  readonly contents: readonly { readonly text: string }[];
}

/** Returns the matches of P01 in the order in which they were completed. */
const matchesOfP01 = (events: readonly LiveEvent[]) =>
  events.flatMap((event) =>
    event.type === "match_completed" && Object.values(event.match.roles).includes("P01") ? [event.match] : [],
  );

describe.concurrent("a player that does not answer in time", () => {
  it("is shut down after three forfeits in a row, and its later matches are forfeited without requests to it", async (test) => {
    const events: LiveEvent[] = [];
    const { completed, match } = await start(test, {
      leagues: rps,
      referees: 2,
      players: [silent("Silent"), good("B"), good("C"), good("D"), good("E"), good("F")],
      onEvent: (event) => events.push(event),
    });
    const [played] = (await completed).leagues;
    const lost = matchesOfP01(events);
    expect(lost.map((one) => [one.termination, one.points.P01])).toEqual(Array(5).fill(["forfeit", 0]));
    expect(lost.map((one) => one.winner === null)).toEqual(Array(5).fill(false));
    expect(lost.map((one) => one.reason === "shut_down")).toEqual([false, false, false, true, true]);
    for (const one of lost) {
      const { faults } = (await match("rps", one.match_id)).result;
      expect(faults).toMatchObject([{ player_id: "P01", code: "G002" }]);
    }
    const notices = events.flatMap((event) => (event.type === "notice" ? [event.message] : []));
    expect(notices.filter((message) => message.includes("P01"))).toHaveLength(1);
    const others = played?.matches.filter((one) => !Object.values(one.roles).includes("P01")) ?? [];
    expect(others.map((one) => one.termination)).toEqual(Array(10).fill("normal"));
    expect(played?.standings.at(-1)).toMatchObject({ player_id: "P01", played: 5, losses: 5, points: 0 });
  });

  it("has its state changes reported as events, in messages to the players and in the standings", async (test) => {
    const events: LiveEvent[] = [];
    const players: FaultyPlayer[] = [];
    const { completed, manager } = await start(test, {
      leagues: rps,
      players: [
        {
          name: "Silent",
          async start(place) {
            players.push(await startFaultyPlayer({ ...place, fault: "silent" }));
            return players[0] as FaultyPlayer;
          },
        },
        ...["B", "C", "D"].map(good),
      ],
      onEvent: (event) => events.push(event),
    });
    await completed;
    const states = events.flatMap((event) => (event.type === "player_state" ? [event] : []));
    const statesOfP01 = states.filter(({ agent_id }) => agent_id === "P01");
    expect(statesOfP01.map(({ was, state, league_ids }) => [was, state, league_ids])).toEqual([
      ["REGISTERED", "ACTIVE", ["rps"]],
      ["ACTIVE", "SUSPENDED", ["rps"]],
      ["SUSPENDED", "SHUTDOWN", ["rps"]],
    ]);
    expect(statesOfP01.map(stateLine)).toEqual([null, "Silent (P01) is suspended: it did not answer in time", null]);
    const updates = (players[0]?.received ?? []).filter(({ type }) => type === "LEAGUE_STANDINGS_UPDATE");
    const stateOfP01 = (rows: unknown): unknown =>
      (rows as { player_id: string; state: string }[]).find(({ player_id }) => player_id === "P01")?.state;
    expect(updates.map(({ payload }) => stateOfP01(payload.standings))).toEqual(["SUSPENDED", "SUSPENDED", "SHUTDOWN"]);
    const standings = (await callRpc(manager, "resources/read", { uri: "league://standings" })) as ReadResult;
    expect(stateOfP01(JSON.parse(standings.contents[0]?.text ?? "").standings)).toBe("SHUTDOWN");
  });

  it("has its suspension and its return printed at the terminal and in the manager's log", async (test) => {
    test.onTestFinished(cleanUp);
    const started = await testLeague(["./sleeper.ts", "cycle", "random"], RPS, {
      files: {
        "sleeper.ts":
          "let asked = 0;\nexport default { choose: () => (asked++ === 0 ? new Promise(() => {}) : 'rock') };\n",
      },
      config: { timeouts: { move_ms: 3_000 } },
    });
    const { code, stderr } = await run(started).ended;
    expect(code, stderr).toBe(0);
    const lines = ["Player1 (P01) is suspended: it did not answer in time", "Player1 (P01) is active again"];
    expect(stderr.split("\n").filter((line) => line.includes("(P01) is"))).toEqual(lines);
    const log = readFileSync(join(runFolders(started)[0] ?? "", "logs", "league-manager.log"), "utf8");
    const entries = log
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(entries.map(({ msg }) => msg).filter((msg) => lines.includes(msg))).toEqual(lines);
    const changes = entries.filter(({ msg, agent }) => msg === "the state of an agent has changed" && agent === "P01");
    expect(changes.map(({ was, state }) => [was, state])).toEqual([
      ["REGISTERED", "ACTIVE"],
      ["ACTIVE", "SUSPENDED"],
      ["SUSPENDED", "ACTIVE"],
      ["ACTIVE", "SHUTDOWN"],
    ]);
  });

  it("is reported as shut down once, even if more matches than the limit end at the same time", async (test) => {
    const notices: string[] = [];
    const { completed } = await start(test, {
      leagues: ["a", "b", "c", "d", "e"].map((league_id) => ({ league_id, game: "rps.v1" })),
      players: [silent("Silent"), good("B")],
      onEvent: (event) => event.type === "notice" && notices.push(event.message),
    });
    const { leagues } = await completed;
    expect(leagues.flatMap(({ matches }) => matches.map((one) => one.termination))).toEqual(Array(5).fill("forfeit"));
    expect(notices.filter((message) => message.includes("shut down"))).toHaveLength(1);
  });

  it("loses its match against another player that was shut down, without a winner", async (test) => {
    const { completed } = await start(test, {
      leagues: rps,
      players: [silent("A"), silent("B"), good("C"), good("D"), good("E"), good("F")],
    });
    const matches = (await completed).leagues[0]?.matches ?? [];
    expect(matches).toHaveLength(15);
    const between = matches.filter((one) => Object.values(one.roles).sort().join() === "P01,P02");
    expect(between).toMatchObject([{ termination: "forfeit", winner: null, points: { P01: 0, P02: 0 } }]);
    const normal = matches.filter((one) => one.termination === "normal");
    expect(normal).toHaveLength(6);
  });

  it("is not shut down if it completes a match in between", async (test) => {
    const events: LiveEvent[] = [];
    const matchIds: string[] = [];
    const failsExceptThird = ({ payload }: ReceivedMessage): boolean => {
      const id = payload.match_id ?? "";
      if (!matchIds.includes(id)) matchIds.push(id);
      return matchIds.indexOf(id) !== 2;
    };
    const { completed } = await start(test, {
      leagues: rps,
      players: [silent("Silent", failsExceptThird), good("B"), good("C"), good("D"), good("E"), good("F")],
      onEvent: (event) => events.push(event),
    });
    await completed;
    const mine = matchesOfP01(events);
    expect(mine.map((one) => one.termination)).toEqual(["forfeit", "forfeit", "normal", "forfeit", "forfeit"]);
    expect(mine.filter((one) => one.reason === "shut_down")).toEqual([]);
  });

  it("is suspended by a timeout and active again after a valid answer", async (test) => {
    const matchIds: string[] = [];
    const answersOfMatches = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const failsInFirst = async ({ payload }: ReceivedMessage): Promise<boolean> => {
      const id = payload.match_id ?? "";
      if (!matchIds.includes(id)) matchIds.push(id);
      await answersOfMatches[matchIds.indexOf(id) - 1]?.promise;
      return matchIds.indexOf(id) === 0;
    };
    const { completed, dataFolder } = await start(test, {
      leagues: rps,
      players: [silent("Silent", failsInFirst), good("B"), good("C"), good("D")],
    });
    const inMatch = (n: number, state: object): Promise<void> =>
      vi.waitFor(async () => {
        expect(matchIds).toHaveLength(n);
        expect(await stateKept(dataFolder, "P01")).toEqual(state);
      }, WAIT_OPTIONS);
    await inMatch(1, { state: "ACTIVE", fails: 0 });
    await inMatch(2, { state: "SUSPENDED", fails: 1 });
    answersOfMatches[0]?.resolve();
    await inMatch(3, { state: "ACTIVE", fails: 0 });
    answersOfMatches[1]?.resolve();
    const [played] = (await completed).leagues;
    const mine = played?.matches.filter((one) => Object.values(one.roles).includes("P01")) ?? [];
    expect(mine.map((one) => one.termination)).toEqual(["forfeit", "normal", "normal"]);
    await vi.waitFor(
      async () => expect(await stateKept(dataFolder, "P01")).toMatchObject({ state: "SHUTDOWN" }),
      WAIT_OPTIONS,
    );
  });
});

describe.concurrent("a player that declines", () => {
  it("is invited to every match and never shut down, because a declined invitation is not a timeout", async (test) => {
    const events: LiveEvent[] = [];
    const states: Promise<unknown>[] = [];
    let player: FaultyPlayer | undefined;
    let folder = "";
    const { completed, match } = await start(test, {
      leagues: rps,
      players: [
        {
          name: "Decliner",
          start: async (place) => {
            folder = place.dataFolder;
            player = await startFaultyPlayer({ ...place, fault: "decline", at: "GAME_INVITE" });
            return player;
          },
        },
        ...["B", "C", "D", "E", "F"].map(good),
      ],
      timeouts: { join_ms: 10_000, move_ms: 10_000 },
      onEvent: (event) => {
        events.push(event);
        if (event.type === "round_started") states.push(stateKept(folder, "P01"));
      },
    });
    await completed;
    const lost = matchesOfP01(events);
    expect(lost.map(({ termination, reason }) => [termination, reason])).toEqual(
      Array(5).fill(["forfeit", "declined"]),
    );
    for (const one of lost) {
      const { faults } = (await match("rps", one.match_id)).result;
      expect(faults).toMatchObject([{ player_id: "P01", code: "G001", cause: "declined" }]);
    }
    expect(player?.received.filter(({ type }) => type === "GAME_INVITE")).toHaveLength(5);
    expect(await Promise.all(states)).toEqual(Array(5).fill({ state: "ACTIVE", fails: 0 }));
    expect(events.filter((event) => event.type === "notice")).toEqual([]);
  });
});
