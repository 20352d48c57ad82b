import { describe, expect, test } from "vitest";
import { type AgentEvent, type AgentState, agentEvents, agentStates, MAX_FAILS, transition } from "./lifecycle.ts";

// A copy of the specified diagram, so that a change of the table in lifecycle.ts fails here.
const diagram = `
INIT ──[register_success]──► REGISTERED
INIT ──[error]──────────────► SHUTDOWN
REGISTERED ──[league_start]──► ACTIVE
REGISTERED ──[league_end]────► SHUTDOWN
ACTIVE ──[timeout]───────────► SUSPENDED
SUSPENDED ──[recover]────────► ACTIVE
SUSPENDED ──[max_fails]──────► SHUTDOWN
`;

// PROTOCOL.md, section 2: "at the league's end all go to SHUTDOWN".
const leagueEndArrows = `
ACTIVE ──[league_end]────────► SHUTDOWN
SUSPENDED ──[league_end]─────► SHUTDOWN
`;

type Arrow = readonly [AgentState, AgentEvent, AgentState];
const arrowsOf = (text: string): Arrow[] =>
  [...text.matchAll(/^(\w+) ──\[(\w+)\]─*► (\w+)$/gm)].map(
    ([, from, event, to]) => [from, event, to] as unknown as Arrow,
  );

const arrows = arrowsOf(diagram + leagueEndArrows);
const impossible = agentStates
  .flatMap((state) => agentEvents.map((event) => [state, event] as const))
  .filter(([state, event]) => !arrows.some(([from, by]) => from === state && by === event));

describe("the lifecycle of an agent", () => {
  test("has the states of the specification", () => {
    expect(agentStates).toEqual(["INIT", "REGISTERED", "ACTIVE", "SUSPENDED", "SHUTDOWN"]);
  });

  test("has the events of the diagram", () => {
    expect(arrowsOf(diagram)).toHaveLength(7);
    expect(agentEvents.toSorted()).toEqual([...new Set(arrowsOf(diagram).map(([, event]) => event))].toSorted());
  });

  test.each(arrows)("goes from %s on %s to %s", (from, event, to) => {
    expect(transition(from, event)).toEqual({ ok: true, value: to });
  });

  test.each(impossible)("rejects in state %s the event %s", (state, event) => {
    expect(transition(state, event)).toEqual({ ok: false, error: `${event} is not possible in state ${state}` });
  });

  test("accepts or rejects every pair of state and event", () => {
    expect(arrows.length + impossible.length).toBe(agentStates.length * agentEvents.length);
  });

  test("has no transition out of SHUTDOWN", () => {
    expect(agentEvents.filter((event) => transition("SHUTDOWN", event).ok)).toEqual([]);
  });
});

test("a player is shut down after three consecutive timeouts (PROTOCOL.md, section 2)", () => {
  expect(MAX_FAILS).toBe(3);
});
