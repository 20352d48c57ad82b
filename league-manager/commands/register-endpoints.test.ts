import { describe, expect, it } from "vitest";
import { sha256Hex } from "#shared/lib/hash.ts";
import { MAX_ABSENT_PLAYERS } from "../agents/admission.ts";
import { startLeague } from "./league-commands.ts";
import {
  alreadyRegistered,
  departed,
  endpointAt,
  given,
  givenState,
  open,
  POLICY,
  player,
  playerPlace,
  referee,
  stateAfter,
  tokenOf,
  withMaxPlayers,
} from "./testing/commands.ts";

describe("a name or endpoint of a registered agent", () => {
  const both = [open("rps"), player("Ann", { port: 1 }), player("Bob", { port: 2 })];

  it.each([
    ["a new player", "Ann", 3, "Eve", "the name Ann"],
    ["a player that knows only the hash of the token", "Ann", 1, null, "the name Ann"],
    ["a returning player that claims another player's name", "Bob", 1, "Ann", "the name Bob"],
    ["a returning player that claims another player's endpoint", "Ann", 2, "Ann", null],
  ])("is not given to %s", (_, name, port, owner, message) => {
    const token = owner === null ? sha256Hex(tokenOf("Ann")) : tokenOf(owner);
    const decided = given(...both).when(player(name, { port, token }));
    if (message) decided.isRejected("L003", alreadyRegistered(message));
    // The endpoint may be free again, so the manager first sends that player a message.
    else decided.leadsTo().replies({ type: "presence_check", player: { id: "P02" } });
  });

  it.each(["http://localhost:1/mcp", "http://[::1]:1/MCP/", "http://127.0.0.2:1//mcp?x"])(
    "is recognized when the endpoint is written as %s",
    (contact_endpoint) => {
      const decided = given(...both).when(player("Eve", { contact_endpoint }));
      decided.leadsTo().replies({ type: "presence_check", player: { id: "P01" } });
    },
  );

  it("is recognized when the endpoint names an address of the manager's machine", () => {
    const ownAddress = "203.0.113.50";
    const byAddress = { contact_endpoint: `http://${ownAddress}:1/mcp`, remoteAddress: ownAddress };
    const onOwnMachine = player("Eve", { ...byAddress, machineAddresses: new Set([ownAddress]) });
    given(...both)
      .when(onOwnMachine)
      .replies({ type: "presence_check", player: { id: "P01" } });
    given(...both)
      .when(player("Eve", byAddress))
      .replies({ agentId: "P03" });
  });

  it("is rejected for the second of two players that register in one batch", () => {
    const state = stateAfter([open("rps"), player("Ann", { port: 1 })]);
    givenState(state)
      .when(player("Ann", { port: 2, token: tokenOf("Eve") }))
      .isRejected("L003", alreadyRegistered("the name Ann"));
  });

  it("can be registered by a referee", () => {
    given(...both)
      .when(referee("Ann", { port: 1, token: tokenOf("R") }))
      .replies({ agentId: "REF01" });
  });
});

describe("a player whose endpoint another player registers", () => {
  const ann = [open("rps"), player("Ann", { port: 1 })];

  it("must be asked whether it has left before anything is registered", () => {
    given(...ann)
      .when(player("Bob", { port: 1 }))
      .leadsTo()
      .replies({ type: "presence_check", player: { id: "P01" } });
  });

  it("loses its endpoint and its entry if it has left, in one append with the new registration", () => {
    const { state } = given(...ann)
      .when(player("Bob", { port: 1, ...departed("P01") }))
      .leadsTo("rps player_left", "rps player_entered", "P01 endpoint_lost", "P02 registered");
    expect([state.agents.get("P01")?.endpoint, state.agents.get("P02")?.endpoint]).toEqual(["", endpointAt(1)]);
  });

  it("keeps both when it registers again, even under another name", () => {
    const reregistration = player("Anna", { port: 1, token: tokenOf("Ann"), ...departed("P01") });
    given(...ann)
      .when(reregistration)
      .leadsTo()
      .replies({ agentId: "P01" });
  });

  it("keeps both when the other player is rejected", () => {
    given(...ann)
      .when(player("Bob", { port: 1, game_types: ["chess"], ...departed("P01") }))
      .isRejected(
        "L001",
        "no league of your games is open: the leagues play rps.v1, and your player plays chess. Change its games: `export const games` in a bot file, GAMES in join.py, or game_types of the registration",
      );
  });

  it("keeps its id when it registers again, and enters the league if it has room", () => {
    const displaced = [...ann, player("Bob", { port: 1, ...departed("P01") })];
    const returning = player("Ann", { port: 3 });
    given(...displaced)
      .when(returning)
      .leadsTo("rps player_entered", "P01 returned")
      .replies({ agentId: "P01" });
    given(...displaced)
      .when(player("Ann", { port: 3 }, withMaxPlayers(1)))
      .isRejected("L002", "every league of your games is full");
  });

  it("loses its entry to the other player even if the league is full", () => {
    given(...ann)
      .when(player("Bob", { port: 1, ...departed("P01") }, withMaxPlayers(1)))
      .replies({ agentId: "P02", leagueIds: ["rps"] });
  });

  it("keeps its entry in a running league", () => {
    const running = [...ann, player("B", { port: 2 }), referee("R"), startLeague("rps", "seed"), open("next")];
    const { state } = given(...running)
      .when(player("Eve", { port: 1, ...departed("P01") }))
      .leadsTo("next player_entered", "P01 endpoint_lost", "P03 registered");
    expect(state.leagues.get("rps")?.entrants.has("P01")).toBe(true);
  });

  it("is not asked if the config lists its endpoint or if the other player claims its name", () => {
    const policy = { ...POLICY, places: [playerPlace("P01", "Ann", endpointAt(1))] };
    const listed = [open("rps"), player("Ann", { port: 1 }, policy)];
    const bob = player("Bob", { port: 1, ...departed("P01") }, policy);
    given(...listed)
      .when(bob)
      .isRejected("L003", alreadyRegistered(`the endpoint ${endpointAt(1)}`));
    given(...ann)
      .when(player("Ann", { port: 1, token: null, ...departed("P01") }))
      .isRejected("L003", alreadyRegistered("the name Ann"));
  });

  it("must be asked even if a former player of the endpoint has left", () => {
    given(...ann, player("Bob", { port: 1, ...departed("P01") }))
      .when(player("Eve", { port: 1, ...departed("P01") }))
      .leadsTo()
      .replies({ type: "presence_check", player: { id: "P02" } });
  });

  it("is forgotten when too many players have left their endpoints", () => {
    const names = Array.from({ length: MAX_ABSENT_PLAYERS + 1 }, (_, n) => `N${n}`);
    const before = names.map((name, n) => player(name, { port: 1, ...departed(`P${String(n).padStart(2, "0")}`) }));
    const { state } = given(open("rps"), ...before)
      .when(player("last", { port: 1, ...departed(`P${MAX_ABSENT_PLAYERS + 1}`) }))
      .leadsTo(
        "rps player_left",
        "rps player_entered",
        `P${MAX_ABSENT_PLAYERS + 1} endpoint_lost`,
        "P01 forgotten",
        "P502 registered",
      );
    expect(state.agents.size).toBe(MAX_ABSENT_PLAYERS + 1);
  });

  it("is not counted as absent when it registers again at an endpoint that another player has left", () => {
    const names = Array.from({ length: MAX_ABSENT_PLAYERS + 1 }, (_, n) => `N${n}`);
    const before = names.map((name, n) => player(name, { port: 1, ...departed(`P${String(n).padStart(2, "0")}`) }));
    const { state } = given(open("rps"), ...before)
      .when(player("N0", { port: 1, ...departed(`P${MAX_ABSENT_PLAYERS + 1}`) }))
      .leadsTo("rps player_left", "rps player_entered", `P${MAX_ABSENT_PLAYERS + 1} endpoint_lost`, "P01 returned")
      .replies({ agentId: "P01" });
    expect(state.agents.size).toBe(MAX_ABSENT_PLAYERS + 1);
  });
});
