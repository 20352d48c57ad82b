import { describe, expect, it } from "vitest";
import { messageTypes } from "#shared/protocol/envelope.ts";
import { LEAGUE_EVENT_TYPES } from "../../league-manager/league/events.ts";
import { Coverage, MIN_RUNS } from "./coverage.ts";
import { planOf } from "./random-plan.ts";

const request = (name: string, args: object): string =>
  JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } });
const reply = (text: string, isError?: true): string =>
  JSON.stringify({ jsonrpc: "2.0", id: 1, result: { content: [{ type: "text", text }], isError } });
const envelope = (type: string): object => ({ protocol: "league.v2", type, sender: "player:P01", payload: {} });

describe("the coverage of a series", () => {
  it("requires each type of event and message of the program that can be simulated", () => {
    const missing = new Coverage().missing();
    expect(missing).toEqual(expect.arrayContaining(LEAGUE_EVENT_TYPES.map((type) => `event of a league: ${type}`)));
    expect(missing.filter((kind) => kind.startsWith("message: "))).toHaveLength(messageTypes.length - 4);
    expect(missing).toContain("event of an agent: token_reset");
    expect(missing).toContain("entry of a session: expired");
  });

  it("counts envelopes, and plain calls of tools as the messages that they stand for", () => {
    const coverage = new Coverage();
    for (const body of [request("league_message", envelope("MOVE_REQUEST")), request("createGame", {})])
      coverage.onRequest(body);
    coverage.onAnswer(
      request("league_message", envelope("MOVE_REQUEST")),
      reply(JSON.stringify(envelope("MOVE_RESPONSE"))),
    );
    coverage.onAnswer(request("get_standings", {}), reply("{}"));
    coverage.onAnswer(request("pause_league", {}), reply("{}", true));
    expect(coverage.counts).toEqual({
      "message: MOVE_REQUEST": 1,
      "message: CREATE_GAME": 1,
      "message: MOVE_RESPONSE": 1,
      "message: GET_STANDINGS_RESPONSE": 1,
    });
  });

  it("has each rare part of plans in any hundred seeds in a row", () => {
    const counts: Coverage[] = [];
    for (let seed = 1; seed <= 1_000; seed++) {
      const plan = planOf(String(seed));
      counts.push(new Coverage());
      for (const coverage of counts.slice(-MIN_RUNS)) coverage.addPlan(plan);
    }
    const missing = counts
      .slice(0, -MIN_RUNS + 1)
      .map((coverage) => coverage.missing().filter((kind) => kind.startsWith("plan: ")));
    expect([...new Set(missing.flat())]).toEqual([]);
  });

  it("adds the counts of workers, and names what is missing", () => {
    const coverage = new Coverage();
    const all = new Coverage().missing();
    for (const kind of all.slice(1)) coverage.add({ [kind]: 2 });
    coverage.add({ [String(all[1])]: 3 });
    expect(coverage.missing()).toEqual([all[0]]);
    expect(coverage.lines()[1]).toBe(`        5 ${all[1]}`);
  });
});
