import { expect, it } from "vitest";
import {
  type Agent,
  type AgentCommand,
  type AgentEvent,
  type Capabilities,
  decideAgent,
  evolveAgent,
  type NewAgentEvent,
  type Profile,
} from "./registered-agent.ts";

const PROFILE: Profile = { name: "Ann", salt: "s", endpoint: "http://127.0.0.1:9000/mcp", tokenHash: "h" };
const CAPABILITIES: Capabilities = {
  gameTypes: ["rps.v1"],
  wantsLegalActions: true,
  wantsRoundResults: false,
  wantsAnnouncements: false,
  maxConcurrent: 0,
  botHash: null,
  dialect: "native",
  wantsDeltaViews: false,
  offersWebSocket: false,
  hasPages: false,
  isPlayedByHand: false,
};
const MATCH = { leagueId: "rps", matchId: "R1M1", epoch: 1 };
const register = (kind: "player" | "referee" = "player"): AgentCommand => ({
  type: "register",
  agentId: "P01",
  kind,
  capabilities: CAPABILITIES,
  profile: PROFILE,
});
const timeOut: AgentCommand = { type: "time_out", ...MATCH };
const answer: AgentCommand = { type: "answer", ...MATCH };
const recover: AgentCommand = { type: "recover", by: "health" };

const asStored = (event: NewAgentEvent): AgentEvent =>
  ({ v: 1, at: "2026-01-01T00:00:00.000Z", ...event }) as AgentEvent;

/** The agent after these commands, and the types of the events. */
function after(...commands: readonly AgentCommand[]): { agent: Agent | null; types: readonly string[] } {
  let agent: Agent | null = null;
  const types: string[] = [];
  for (const command of commands) {
    const decided = decideAgent(agent, command);
    if (!decided.ok) throw new Error(decided.error.message);
    for (const event of decided.value) {
      agent = evolveAgent(agent, asStored(event), "profile" in command ? command.profile : PROFILE);
      types.push(event.type);
    }
  }
  return { agent, types };
}
const active = [register(), { type: "activate" }] as const;

it("a registration contains the declared capabilities, and a commitment to the name instead of the name", () => {
  const decided = decideAgent(null, register());
  expect(decided).toMatchObject({ ok: true, value: [{ type: "registered", agent_id: "P01", kind: "player" }] });
  expect(JSON.stringify(decided)).not.toContain("Ann");
  const { agent } = after(register());
  expect(agent).toEqual({
    ...CAPABILITIES,
    ...PROFILE,
    id: "P01",
    kind: "player",
    version: 1,
    state: "REGISTERED",
    isRemoved: false,
    fails: 0,
    returnedAt: null,
  });
});

it.each<[string, readonly AgentCommand[], Partial<Agent>, string[]]>([
  ["a league starts", [...active], { state: "ACTIVE" }, ["activated"]],
  ["a second league starts", [...active, { type: "activate" }], { state: "ACTIVE" }, ["activated"]],
  ["a timeout", [...active, timeOut], { state: "SUSPENDED", fails: 1 }, ["activated", "timed_out"]],
  [
    "two timeouts, a health probe and a timeout",
    [...active, timeOut, timeOut, recover, timeOut],
    { state: "SHUTDOWN", fails: 3 },
    ["activated", "timed_out", "timed_out", "recovered", "timed_out"],
  ],
  [
    "two timeouts, a match without a timeout and a timeout",
    [...active, timeOut, timeOut, answer, timeOut],
    { state: "SUSPENDED", fails: 1 },
    ["activated", "timed_out", "timed_out", "answered", "timed_out"],
  ],
  ["a match without a timeout", [...active, answer], { state: "ACTIVE", fails: 0 }, ["activated"]],
  [
    "four timeouts, a match without a timeout and a health probe",
    [...active, timeOut, timeOut, timeOut, timeOut, answer, recover],
    { state: "SHUTDOWN", isRemoved: false, fails: 3 },
    ["activated", "timed_out", "timed_out", "timed_out"],
  ],
  ["a health probe of an active player", [...active, recover], { state: "ACTIVE" }, ["activated"]],
  [
    "the end of its leagues",
    [...active, { type: "dismiss" }, { type: "dismiss" }],
    { state: "SHUTDOWN" },
    ["activated", "dismissed"],
  ],
  [
    "an operator's removal",
    [register(), { type: "remove" }, { type: "remove" }],
    { state: "SHUTDOWN", isRemoved: true },
    ["removed"],
  ],
  [
    "an operator's removal and the entry into another league",
    [register(), { type: "remove" }, { type: "renew" }],
    { state: "REGISTERED", isRemoved: false },
    ["removed", "renewed"],
  ],
  [
    "the end of its leagues and the entry into another league",
    [...active, timeOut, { type: "dismiss" }, { type: "renew" }, { type: "renew" }],
    { state: "REGISTERED", fails: 0 },
    ["activated", "timed_out", "dismissed", "renewed"],
  ],
  [
    "an operator's removal and the start of its league",
    [register(), { type: "remove" }, { type: "activate" }],
    { state: "SHUTDOWN" },
    ["removed"],
  ],
])("a player has the expected state and events after %s", (_, commands, agent, types) => {
  const result = after(...commands);
  expect(result.agent).toMatchObject({ ...agent, version: types.length + 1 });
  expect(result.types).toEqual(["registered", ...types]);
});

it.each(["player", "referee"] as const)("a %s that registers again without changes causes no event", (kind) => {
  const again: AgentCommand = { type: "return", capabilities: CAPABILITIES, profile: PROFILE };
  expect(after(register(kind), again)).toMatchObject({ types: ["registered"], agent: { returnedAt: null } });
});

it.each<[string, Partial<Capabilities>, Partial<Profile>]>([
  ["other games", { gameTypes: [] }, {}],
  ["announcements", { wantsAnnouncements: true }, {}],
  ["views without the known history", { wantsDeltaViews: true }, {}],
  ["a WebSocket", { offersWebSocket: true }, {}],
  ["another endpoint", {}, { endpoint: "http://127.0.0.1:9001/mcp" }],
])("a second registration with %s changes the player", (_, capabilities, profile) => {
  const changed = { capabilities: { ...CAPABILITIES, ...capabilities }, profile: { ...PROFILE, ...profile } };
  const { agent, types } = after(register(), { type: "return", ...changed });
  expect(types).toEqual(["registered", "returned"]);
  expect(agent).toMatchObject({ ...changed.capabilities, ...changed.profile, returnedAt: "2026-01-01T00:00:00.000Z" });
});

it("a second loss of the endpoint causes no event", () => {
  const decision = decideAgent(after(register()).agent, { type: "lose_endpoint" });
  expect(decision).toEqual({ ok: true, value: [{ type: "endpoint_lost" }] });
  const withoutEndpoint = evolveAgent(after(register()).agent, asStored({ type: "endpoint_lost" }), {
    ...PROFILE,
    endpoint: "",
  });
  expect(withoutEndpoint).toMatchObject({ endpoint: "", version: 2 });
  expect(decideAgent(withoutEndpoint, { type: "lose_endpoint" })).toEqual({ ok: true, value: [] });
});

it("a forgotten agent can be registered again in the same stream", () => {
  const { agent } = after(register());
  const forgotten = evolveAgent(agent, asStored({ type: "forgotten" }), PROFILE);
  expect(forgotten).toBeNull();
  const again = decideAgent(null, register());
  if (!again.ok) throw new Error("rejected");
  expect(evolveAgent(null, asStored(again.value[0] as NewAgentEvent), PROFILE, 3)).toMatchObject({ version: 3 });
});

it("commands to an unregistered agent and a second registration are rejected", () => {
  expect(decideAgent(null, recover)).toMatchObject({ ok: false, error: { error_code: "L004" } });
  expect(decideAgent(after(register()).agent, register())).toMatchObject({ ok: false, error: { error_code: "L003" } });
});

it.each<[string, readonly AgentCommand[], NewAgentEvent]>([
  ["a timeout before the start", [register()], { type: "timed_out", league_id: "rps", match_id: "R1M1", epoch: 1 }],
  ["a recovery without a timeout", [...active], { type: "recovered", by: "health" }],
  ["an answer without a timeout", [...active], { type: "answered", league_id: "rps", match_id: "R1M1", epoch: 1 }],
  ["a second activation", [...active], { type: "activated" }],
  ["a renewal of an active player", [...active], { type: "renewed" }],
  ["a second removal", [register(), { type: "remove" }], { type: "removed" }],
  ["any event before the registration", [], { type: "forgotten" }],
])("a log with %s is rejected with an exception", (_, commands, event) => {
  expect(() => evolveAgent(after(...commands).agent, asStored(event), PROFILE)).toThrow();
});
