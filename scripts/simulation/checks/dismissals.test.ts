import { expect, test } from "vitest";
import type { LogEntry } from "./log.ts";
import { faultsOfDismissals } from "./timeouts.ts";

const entry = (stream: string, event: object): LogEntry => ({ stream, at: 0, event }) as unknown as LogEntry;
const league = (type: string, more: object = {}): LogEntry => entry("league:sim", { type, ...more });
const agent = (id: string, type: string, more: object = {}): LogEntry => entry(`agent:${id}`, { type, ...more });

const BEGIN = [
  ...["REF01", "P01", "P02", "P03"].map((id) =>
    agent(id, "registered", { kind: id.startsWith("REF") ? "referee" : "player" }),
  ),
  ...["P01", "P02"].map((player_id) => league("player_entered", { player_id })),
];
const END = [league("completed"), agent("P01", "dismissed"), agent("P02", "dismissed"), agent("REF01", "dismissed")];
const fault = (id: string): string => `end: ${id} was not dismissed at the end of the league`;

test("the referees and the players of the only league are dismissed at its end", () => {
  expect(faultsOfDismissals([...BEGIN, ...END])).toEqual([]);
  expect(faultsOfDismissals([...BEGIN, ...END.slice(0, 2)])).toEqual([fault("REF01"), fault("P02")]);
});

test("a player that is removed, or shut down by three timeouts in a row, is out already", () => {
  const timeout = agent("P02", "timed_out");
  const out = [agent("P01", "removed"), timeout, timeout, timeout];
  expect(faultsOfDismissals([...BEGIN, ...out, league("completed"), agent("REF01", "dismissed")])).toEqual([]);
  const answered = [agent("P01", "removed"), timeout, timeout, agent("P02", "answered"), timeout];
  const active = [...BEGIN, ...answered, league("completed"), agent("REF01", "dismissed")];
  expect(faultsOfDismissals(active)).toEqual([fault("P02")]);
});

test("an agent that returns after the end, and a run with another league, are not checked", () => {
  expect(faultsOfDismissals([...BEGIN, ...END, agent("P01", "renewed")])).toEqual([]);
  expect(faultsOfDismissals([...BEGIN, ...END, agent("P09", "registered", { kind: "player" })])).toEqual([]);
  expect(faultsOfDismissals([...BEGIN, entry("league:other", { type: "opened" }), league("completed")])).toEqual([]);
});
