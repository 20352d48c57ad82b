import { describe, expect, it } from "vitest";
import { sha256Hex } from "#shared/lib/hash.ts";
import { MOST_ABSENT } from "../agents/admission.ts";
import { startLeague } from "./leagues.ts";
import {
  alreadyRegistered,
  endpointAt,
  given,
  givenState,
  left,
  open,
  POLICY,
  player,
  playerPlace,
  referee,
  stateAfter,
  tokenOf,
  withSeats,
} from "./testing/commands.ts";

describe("a name or an endpoint that is taken", () => {
  const both = [open("rps"), player("Ann", { port: 1 }), player("Bob", { port: 2 })];

  it.each([
    ["a new player", "Ann", 3, "Eve", "the name Ann"],
    ["a player that knows the hash of the token only", "Ann", 1, null, "the name Ann"],
    ["a player that returns under another's name", "Bob", 1, "Ann", "the name Bob"],
    ["a player that returns at another's endpoint", "Ann", 2, "Ann", null],
  ])("is not given to %s", (_, name, port, owner, message) => {
    const token = owner === null ? sha256Hex(tokenOf("Ann")) : tokenOf(owner);
    const asked = given(...both).when(player(name, { port, token }));
    if (message) asked.isRejected("L003", alreadyRegistered(message));
    // An endpoint may be free again: that player is asked.
    else asked.leadsTo().replies({ type: "has_left", player: { id: "P02" } });
  });

  it.each(["http://localhost:1/mcp", "http://[::1]:1/MCP/", "http://127.0.0.2:1//mcp?x"])(
    "is also taken when the endpoint is written as %s",
    (contact_endpoint) => {
      const asked = given(...both).when(player("Eve", { contact_endpoint }));
      asked.leadsTo().replies({ type: "has_left", player: { id: "P01" } });
    },
  );

  it("stays taken when the endpoint is spelled with an address that the manager's machine has", () => {
    const own = "203.0.113.50";
    const byAddress = { contact_endpoint: `http://${own}:1/mcp`, remoteAddress: own };
    const here = player("Eve", { ...byAddress, machineAddresses: new Set([own]) });
    given(...both)
      .when(here)
      .replies({ type: "has_left", player: { id: "P01" } });
    given(...both)
      .when(player("Eve", byAddress))
      .replies({ agentId: "P03" });
  });

  it("is taken by the first of two that come in one batch", () => {
    const state = stateAfter([open("rps"), player("Ann", { port: 1 })]);
    givenState(state)
      .when(player("Ann", { port: 2, token: tokenOf("Eve") }))
      .isRejected("L003", alreadyRegistered("the name Ann"));
  });

  it("can be a referee's, too", () => {
    given(...both)
      .when(referee("Ann", { port: 1, token: tokenOf("R") }))
      .replies({ agentId: "REF01" });
  });
});

describe("a player whose endpoint another one wants", () => {
  const ann = [open("rps"), player("Ann", { port: 1 })];

  it("is asked first, and nothing is registered", () => {
    given(...ann)
      .when(player("Bob", { port: 1 }))
      .leadsTo()
      .replies({ type: "has_left", player: { id: "P01" } });
  });

  it("loses endpoint and seat when it has left, in one append with the newcomer", () => {
    const { state } = given(...ann)
      .when(player("Bob", { port: 1, ...left("P01") }))
      .leadsTo("rps player_left", "rps player_entered", "P01 endpoint_lost", "P02 registered");
    expect([state.agents.get("P01")?.endpoint, state.agents.get("P02")?.endpoint]).toEqual(["", endpointAt(1)]);
  });

  it("keeps both when it registers again itself, also under another name", () => {
    const again = player("Anna", { port: 1, token: tokenOf("Ann"), ...left("P01") });
    given(...ann)
      .when(again)
      .leadsTo()
      .replies({ agentId: "P01" });
  });

  it("keeps endpoint and seat when the newcomer is rejected", () => {
    given(...ann)
      .when(player("Bob", { port: 1, game_types: ["chess"], ...left("P01") }))
      .isRejected("L001", "no league of your games is open");
  });

  it("comes back under its id, and gets a seat if there is one", () => {
    const gone = [...ann, player("Bob", { port: 1, ...left("P01") })];
    const back = player("Ann", { port: 3 });
    given(...gone)
      .when(back)
      .leadsTo("rps player_entered", "P01 returned")
      .replies({ agentId: "P01" });
    given(...gone)
      .when(player("Ann", { port: 3 }, withSeats(1)))
      .isRejected("L002", "every league of your games is full");
  });

  it("leaves its seat to the newcomer, also the last one", () => {
    given(...ann)
      .when(player("Bob", { port: 1, ...left("P01") }, withSeats(1)))
      .replies({ agentId: "P02", leagueIds: ["rps"] });
  });

  it("keeps its seat in a league that runs", () => {
    const running = [...ann, player("B", { port: 2 }), referee("R"), startLeague("rps"), open("next")];
    const { state } = given(...running)
      .when(player("Eve", { port: 1, ...left("P01") }))
      .leadsTo("next player_entered", "P01 endpoint_lost", "P03 registered");
    expect(state.leagues.get("rps")?.entrants.has("P01")).toBe(true);
  });

  it("is not asked when the config lists its endpoint, or when its name is wanted", () => {
    const policy = { ...POLICY, places: [playerPlace("P01", "Ann", endpointAt(1))] };
    const listed = [open("rps"), player("Ann", { port: 1 }, policy)];
    const bob = player("Bob", { port: 1, ...left("P01") }, policy);
    given(...listed)
      .when(bob)
      .isRejected("L003", alreadyRegistered(`the endpoint ${endpointAt(1)}`));
    given(...ann)
      .when(player("Ann", { port: 1, token: null, ...left("P01") }))
      .isRejected("L003", alreadyRegistered("the name Ann"));
  });

  it("causes a new question when another player got the endpoint in the meantime", () => {
    given(...ann, player("Bob", { port: 1, ...left("P01") }))
      .when(player("Eve", { port: 1, ...left("P01") }))
      .leadsTo()
      .replies({ type: "has_left", player: { id: "P02" } });
  });

  it("is forgotten when many have left: one endpoint cannot fill the manager with names", () => {
    const names = Array.from({ length: MOST_ABSENT + 1 }, (_, n) => `N${n}`);
    const before = names.map((name, n) => player(name, { port: 1, ...left(`P${String(n).padStart(2, "0")}`) }));
    const { state } = given(open("rps"), ...before)
      .when(player("last", { port: 1, ...left(`P${MOST_ABSENT + 1}`) }))
      .leadsTo(
        "rps player_left",
        "rps player_entered",
        `P${MOST_ABSENT + 1} endpoint_lost`,
        "P01 forgotten",
        "P502 registered",
      );
    expect(state.agents.size).toBe(MOST_ABSENT + 1);
  });

  it("is neither counted nor forgotten when it comes back to an endpoint that another player has left", () => {
    const names = Array.from({ length: MOST_ABSENT + 1 }, (_, n) => `N${n}`);
    const before = names.map((name, n) => player(name, { port: 1, ...left(`P${String(n).padStart(2, "0")}`) }));
    const { state } = given(open("rps"), ...before)
      .when(player("N0", { port: 1, ...left(`P${MOST_ABSENT + 1}`) }))
      .leadsTo("rps player_left", "rps player_entered", `P${MOST_ABSENT + 1} endpoint_lost`, "P01 returned")
      .replies({ agentId: "P01" });
    expect(state.agents.size).toBe(MOST_ABSENT + 1);
  });
});
