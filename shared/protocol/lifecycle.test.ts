import { describe, expect, test } from "vitest";
import { type AgentEvent, type AgentState, agentEvents, agentStates, MAX_FAILS, transition } from "./lifecycle.ts";

// A copy, so that the table in lifecycle.ts cannot change unnoticed.
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
const added = `
ACTIVE ──[league_end]────────► SHUTDOWN
SUSPENDED ──[league_end]─────► SHUTDOWN
`;

type Arrow = readonly [AgentState, AgentEvent, AgentState];
const arrowsOf = (text: string): Arrow[] =>
  [...text.matchAll(/^(\w+) ──\[(\w+)\]─*► (\w+)$/gm)].map(
    ([, from, event, to]) => [from, event, to] as unknown as Arrow,
  );

const arrows = arrowsOf(diagram + added);
const others = agentStates
  .flatMap((state) => agentEvents.map((event) => [state, event] as const))
  .filter(([state, event]) => !arrows.some(([from, by]) => from === state && by === event));

describe("the lifecycle of an agent", () => {
  test("the states are the document's", () => {
    expect(agentStates).toEqual(["INIT", "REGISTERED", "ACTIVE", "SUSPENDED", "SHUTDOWN"]);
  });

  test("the events are those of the diagram", () => {
    expect(arrowsOf(diagram)).toHaveLength(7);
    expect(agentEvents.toSorted()).toEqual([...new Set(arrowsOf(diagram).map(([, event]) => event))].toSorted());
  });

  test.each(arrows)("%s on %s becomes %s", (from, event, to) => {
    expect(transition(from, event)).toEqual({ ok: true, value: to });
  });

  test.each(others)("%s refuses %s, and the refusal names both", (state, event) => {
    expect(transition(state, event)).toEqual({ ok: false, error: `${event} is not possible in state ${state}` });
  });

  test("every pair is one or the other", () => {
    expect(arrows.length + others.length).toBe(agentStates.length * agentEvents.length);
  });

  test("nothing leads out of SHUTDOWN", () => {
    expect(agentEvents.filter((event) => transition("SHUTDOWN", event).ok)).toEqual([]);
  });
});

test("PROTOCOL.md, section 2: max_fails is 3 matches", () => {
  expect(MAX_FAILS).toBe(3);
});
