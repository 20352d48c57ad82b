import { describe, expect, it } from "vitest";
import { sha256Hex } from "#shared/lib/hash.ts";
import { MAX_REFEREES, MAX_REFEREES_OF_NETWORK } from "../agents/admission.ts";
import type { Place } from "../agents/places.ts";
import type { Decide } from "../ledger.ts";
import { openRound } from "./league-commands.ts";
import { assignMatch, releaseMatch, settleWithdrawal } from "./match-commands.ts";
import {
  endpointAt,
  given,
  givenState,
  open,
  POLICY,
  player,
  referee,
  startedLeague,
  stateAfter,
  tokenOf,
} from "./testing/commands.ts";

const REMOTE = "203.0.113.9";
const OTHER = "203.0.113.10";
const remote = (address: string, n: number, more: object = {}) =>
  referee(`${address} ${n}`, {
    contact_endpoint: `http://${address}:${10_000 + n}/mcp`,
    remoteAddress: address,
    ...more,
  });
const local = (n: number, more: object = {}, policy = POLICY) =>
  referee(`R${n}`, { port: 10_000 + n, ...more }, policy);
const many = (n: number, make: (n: number) => Decide<unknown>) => Array.from({ length: n }, (_, index) => make(index));
const placeAt = (id: string, port: number, startedByRun: Place["startedByRun"] = null): Place => ({
  id,
  kind: "referee",
  name: null,
  endpoint: endpointAt(port),
  startedByRun,
});

it("a new referee is registered with its capacity and for every league", () => {
  const { state } = given(open("rps", "other"))
    .when(referee("R"))
    .leadsTo("REF01 registered")
    .replies({ agentId: "REF01", token: tokenOf("R"), isNew: true, leagueIds: ["rps", "other"], replaced: null });
  expect(state.agents.get("REF01")).toMatchObject({ kind: "referee", maxConcurrent: 2, wantsAnnouncements: true });
});

it("a second referee with the name or endpoint of a registered one is rejected immediately", () => {
  const both = [local(1), local(2)];
  for (const [name, port, owner] of [
    ["R1", 3, "R3"],
    ["R3", 10_001, "R3"],
    ["R1", 10_001, "R2"],
    ["R2", 10_001, "R2"],
  ] as const) {
    const command = referee(name, { port, token: tokenOf(owner) });
    expect(command(stateAfter(both), "")).toMatchObject({ ok: false, error: { error_code: "L003" } });
  }
  given(...both)
    .when(local(1))
    .leadsTo()
    .replies({ agentId: "REF01", isNew: false });
});

it("with a roster only the referees of the config are registered", () => {
  const startedByRun = { endpoint: endpointAt(9001), tokenHash: sha256Hex(tokenOf("run")) };
  const policy = { ...POLICY, startWhen: "roster" as const, places: [placeAt("REF01", 9001, startedByRun)] };
  given()
    .when(referee("R", { port: 9002 }, policy))
    .isRejected("L002", "the league accepts only the referees of its config");
  given()
    .when(referee("R", { port: 9001 }, policy))
    .isRejected("L003", `the endpoint ${endpointAt(9001)} is reserved for an agent of this run`);
  given()
    .when(referee("R", { port: 9001, token: tokenOf("run") }, policy))
    .replies({ agentId: "REF01" });
});

describe("99 referees", () => {
  const policy = { ...POLICY, places: [placeAt("REF01", 9001)] };
  const all = stateAfter(
    many(MAX_REFEREES, (n) => local(n, {}, policy)),
    stateAfter([open("rps"), player("A")]),
  );

  it("are accepted, and further ones only if they return or the config lists them", () => {
    givenState(all)
      .when(local(99, {}, policy))
      .isRejected("L002", "99 referees are registered, and all of them answer", { retryable: true });
    givenState(all)
      .when(local(7, {}, policy))
      .replies({ agentId: "REF08", isNew: false });
    givenState(all)
      .when(referee("listed", { port: 9001 }, policy))
      .replies({ isNew: true });
  });

  it("are replaced by a further one, the longest silent first", () => {
    const registerNext = local(99, { silent: ["REF08", "REF03"] }, policy);
    const { state } = givenState(all)
      .when(registerNext)
      .leadsTo("REF08 forgotten", "REF100 registered")
      .replies({ replaced: "REF08" });
    // The forgotten referee registers as a new one.
    givenState(state)
      .when(local(7, { silent: ["REF03"] }, policy))
      .replies({ agentId: "REF101", token: tokenOf("R7") });
  });

  it("are not replaced if the silent agent is listed by the config, unknown or a player", () => {
    const { state } = givenState(
      stateAfter(
        many(98, (n) => local(n, {}, policy)),
        stateAfter([open("rps"), player("A")]),
      ),
    ).when(referee("listed", { port: 9001 }, policy));
    const command = local(98, { silent: ["REF01", "REF500", "P01"] }, policy);
    expect(state.agents.get("REF01")?.endpoint).not.toBe(endpointAt(9001));
    const listed = [...state.agents.values()].find(({ endpoint }) => endpoint === endpointAt(9001));
    givenState(state)
      .when(local(98, { silent: [listed?.id ?? "", "REF500", "P01"] }, policy))
      .isRejected("L002", "99 referees are registered, and all of them answer");
    givenState(state).when(command).replies({ replaced: "REF01" });
  });
});

describe("the referees of one remote network", () => {
  const full = stateAfter([...many(MAX_REFEREES_OF_NETWORK, (n) => remote(REMOTE, n)), remote(OTHER, 0)]);

  it("are limited to 33, without effect on other networks", () => {
    givenState(full)
      .when(remote(REMOTE, 33))
      .isRejected("L002", "33 referees of your network are registered, and all of them answer");
    givenState(full).when(remote(OTHER, 1)).replies({ isNew: true });
    givenState(full).when(remote(REMOTE, 0)).replies({ isNew: false });
    givenState(full).when(local(0)).replies({ isNew: true });
    const onOwnMachine = remote(REMOTE, 33, { machineAddresses: new Set([REMOTE]) });
    givenState(full).when(onOwnMachine).replies({ isNew: true });
  });

  it("replace only silent referees of the same network", () => {
    givenState(full)
      .when(remote(REMOTE, 33, { silent: ["REF34"] }))
      .isRejected("L002", "33 referees of your network are registered, and all of them answer");
    givenState(full)
      .when(remote(REMOTE, 33, { silent: ["REF34", "REF05"] }))
      .replies({ replaced: "REF05" });
  });
});

describe("a silent referee with withdrawals", () => {
  const withdrawn = [
    ...startedLeague("rps", 2),
    openRound("rps", 1),
    assignMatch({ leagueId: "rps", matchId: "R1M1", epoch: 1, refereeId: "REF01" }),
    releaseMatch({ leagueId: "rps", matchId: "R1M1", epoch: 1, reason: "unreachable", detail: "no answer" }),
  ];

  it("is forgotten and its withdrawals are settled in the append that registers another one", () => {
    const all = stateAfter([...withdrawn, ...many(MAX_REFEREES - 1, (n) => local(n))]);
    const { state } = givenState(all)
      .when(local(500, { silent: ["REF01"] }))
      .leadsTo("rps withdrawal_settled", "REF01 forgotten", "REF100 registered", "REF100 activated")
      .writes({ type: "erase_profile", agentId: "REF01" }, { type: "profile", agentId: "REF100" });
    expect(state.leagues.get("rps")?.withdrawals).toEqual([]);
  });

  it("settles a withdrawal once by acknowledging it", () => {
    const settle = settleWithdrawal({ leagueId: "rps", matchId: "R1M1", epoch: 1, refereeId: "REF01" });
    given(...withdrawn)
      .when(settle)
      .leadsTo("rps withdrawal_settled");
    given(...withdrawn, settle)
      .when(settle)
      .leadsTo();
  });
});

it("a silent referee with a match is not replaced", () => {
  const assigned = [
    ...startedLeague("rps", 2),
    openRound("rps", 1),
    assignMatch({ leagueId: "rps", matchId: "R1M1", epoch: 1, refereeId: "REF01" }),
  ];
  given(...assigned, ...many(MAX_REFEREES - 1, (n) => local(n)))
    .when(local(500, { silent: ["REF01"] }))
    .isRejected("L002", "99 referees are registered, and all of them answer");
});
