import { describe, expect, it } from "vitest";
import { sha256Hex } from "#shared/lib/hash.ts";
import { PlayerRegisterRequest } from "#shared/protocol/registration-messages.ts";
import { nameCommitment } from "../agents/decide.ts";
import { MOST_PLAYERS } from "../agents/entries.ts";
import { startLeague } from "./leagues.ts";
import { removePlayer, resetToken } from "./players.ts";
import {
  AT,
  alreadyRegistered,
  applied,
  endpointAt,
  formerLeague,
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

describe("a new player", () => {
  it("enters every open league of its games, in one append, with the token that it chose", () => {
    given(open("rps", "other"))
      .when(player("Ann", { announcements: false, batch: true }))
      .leadsTo("rps player_entered", "other player_entered", "P01 registered")
      .replies({ type: "registered", agentId: "P01", token: tokenOf("Ann"), isNew: true, leagueIds: ["rps", "other"] })
      .writes({
        type: "profile",
        agentId: "P01",
        profile: { name: "Ann", salt: "salt Ann", endpoint: endpointAt(9000), tokenHash: sha256Hex(tokenOf("Ann")) },
      });
  });

  it("is stored with its declared capabilities, and with the commitment of its name in each league", () => {
    const { state } = given(open("rps")).when(
      player("Ann", { announcements: false, legal_actions: false, batch: true }),
    );
    expect(state.agents.get("P01")).toMatchObject({
      ...{ wantsAnnouncements: false, wantsLegalActions: false, wantsRoundResults: true, takesBatches: true },
    });
    const commitment = nameCommitment({ name: "Ann", salt: "salt Ann" });
    expect([...(state.leagues.get("rps")?.entrants ?? [])]).toEqual([["P01", commitment]]);
  });

  it("declines announcements in its message", () => {
    const said = { display_name: "Ann", game_types: [], contact_endpoint: endpointAt(1), announcements: false };
    expect(PlayerRegisterRequest.parse(said)).toMatchObject({ announcements: false });
  });

  it("enters all leagues that it names, or none", () => {
    const [rps, gone] = [["rps"], ["rps", "gone"]];
    given(open("rps", "other"))
      .when(player("Ann", { league_ids: rps }))
      .replies({ leagueIds: ["rps"] });
    const lost = given(open("rps", "other")).when(player("Ann", { league_ids: gone }));
    lost.isRejected("L005", "no league gone");
  });

  it.each([
    ["no token", null],
    ["a token that is no secret", "secret"],
    ["the operator's token", tokenOf("operator")],
    ["the token of another agent", tokenOf("Bob")],
  ])("gets a new token when it brings %s", (_, token) => {
    const policy = { ...POLICY, operatorTokenHash: sha256Hex(tokenOf("operator")) };
    given(open("rps"), player("Bob", { port: 9009 }))
      .when(player("Ann", { token }, policy))
      .replies({ agentId: "P02", token: tokenOf("new Ann") });
  });

  it("is rejected when its endpoint is not an HTTP URL or is at another address", () => {
    const contact = (contact_endpoint: string) => given(open("rps")).when(player("Ann", { contact_endpoint }));
    contact("ftp://127.0.0.1/mcp").isRejected("L001", "contact_endpoint is not an http URL");
    const why = "contact_endpoint must be at the address you register from (127.0.0.1) or allowed by the config";
    contact("http://192.0.2.1:9000/mcp").isRejected("L001", why);
  });

  it("needs the join code, unless it comes back with its token", () => {
    const policy = { ...POLICY, joinCode: "word" };
    const why = "the join code is missing or wrong: ask for it and give --join-code WORD";
    const inside = player("Ann", { join_code: "word" }, policy);
    given(open("rps"))
      .when(player("Ann", {}, policy))
      .isRejected("L001", why);
    given(open("rps"))
      .when(player("Ann", { join_code: "sword" }, policy))
      .isRejected("L001", why);
    given(open("rps"), inside)
      .when(player("Ann", {}, policy))
      .replies({ agentId: "P01", isNew: false });
  });

  it("is rejected when no league of its games is open", () => {
    given(open("rps"))
      .when(player("Ann", { game_types: ["chess"] }))
      .isRejected("L001", "no league of your games is open");
    const chess = player("Ann", { game_types: ["chess"], league_ids: ["rps"] });
    given(open("rps")).when(chess).isRejected("L001", "league rps plays rps.v1, which is not in your game_types");
    const running = [open("rps"), player("A", { port: 1 }), player("B", { port: 2 }), referee("R"), startLeague("rps")];
    given(...running)
      .when(player("Ann"))
      .isRejected("L001", "no league of your games is open");
    given(...running)
      .when(player("Ann", { league_ids: ["rps"] }))
      .isRejected("L001", "league rps is running");
  });
});

describe("a player that returns", () => {
  it("leaves no event when nothing has changed", () => {
    given(open("rps"), player("Ann"))
      .when(player("Ann"))
      .leadsTo()
      .replies({ agentId: "P01", token: tokenOf("Ann"), isNew: false });
  });

  it("keeps its name, and takes a new endpoint", () => {
    const { state } = given(open("rps"), player("Ann", { port: 1 })).when(
      player("Anna", { port: 1, token: tokenOf("Ann"), batch: true }),
    );
    expect(state.agents.get("P01")).toMatchObject({ name: "Ann", salt: "salt Ann" });
    const moved = given(open("rps"), player("Ann", { port: 1 })).when(player("Ann", { port: 2 }));
    moved.leadsTo("P01 returned");
    expect(moved.state.agents.get("P01")?.endpoint).toBe(endpointAt(2));
  });

  it("returns unchanged with the normalized form of its endpoint, which has at most 2,000 characters", () => {
    const odd = player("Ann", { contact_endpoint: "HTTP://127.0.0.1:80/\ud800" });
    const { state } = given(open("rps")).when(odd);
    const endpoint = "http://127.0.0.1/%EF%BF%BD";
    expect(state.agents.get("P01")?.endpoint).toBe(endpoint);
    givenState(state)
      .when(player("Ann", { contact_endpoint: endpoint }))
      .leadsTo();
    const long = player("Ann", { contact_endpoint: `http://127.0.0.1/${"é".repeat(400)}` });
    given(open("rps")).when(long).isRejected("L001", "contact_endpoint is longer than 2000 characters as a URL");
  });

  it("changes once a second, and returns unchanged at any time", () => {
    const state = stateAfter([open("rps"), player("Ann", { port: 1 }), player("Ann", { port: 2 })]);
    const [again, unchanged] = [player("Ann", { port: 1 }), player("Ann", { port: 2 })];
    const [early, late] = ["2026-01-01T00:00:00.999Z", "2026-01-01T00:00:01.000Z"];
    expect(again(state, early)).toMatchObject({ ok: false, error: { error_code: "L001", retryable: true } });
    expect(again(state, late)).toMatchObject({ ok: true, value: { agentEvents: [{ event: { type: "returned" } }] } });
    expect(unchanged(state, early)).toMatchObject({ ok: true, value: { agentEvents: [] } });
  });

  it("is stored with the games of this program, in the order of the registry", () => {
    const asked = { game_types: ["rps.v1", "rps.v1", "chess", "x".repeat(200), "rps"] };
    const { state } = given(open("rps")).when(player("Ann", asked));
    expect(state.agents.get("P01")?.gameTypes).toEqual(["rps", "rps.v1", "chess"]);
    given(open("rps"), player("Ann", asked))
      .when(player("Ann", { game_types: ["chess", "rps", "rps.v1", "other"] }))
      .leadsTo();
  });

  it("needs the new token after a reset", () => {
    const reset = resetToken("P01", tokenOf("reset"), []);
    given(open("rps"), player("Ann"), reset).when(player("Ann")).isRejected("L003", alreadyRegistered("the name Ann"));
    const back = player("Ann", { token: tokenOf("reset") });
    given(open("rps"), player("Ann"), reset)
      .when(back)
      .replies({ agentId: "P01", token: tokenOf("reset") });
  });

  it("enters leagues that have opened meanwhile", () => {
    const moved = given(open("rps"), player("Ann"), open("next")).when(player("Ann"));
    moved.leadsTo("next player_entered").replies({ leagueIds: ["rps", "next"] });
  });

  it("is registered again for an open league when it was shut down and plays nowhere", () => {
    const over = [open("rps"), player("Ann"), removePlayer("P01")];
    // It was in an open league only: forgotten, so this is a new player.
    given(...over)
      .when(player("Ann"))
      .leadsTo("rps player_entered", "P02 registered");
    const former = stateAfter([open("rps"), player("Ann")]);
    const shut = stateAfter([removePlayer("P01")], { ...former, formerLeagues: [formerLeague("completed", "P01")] });
    givenState(shut).when(player("Ann")).leadsTo("rps player_entered", "P01 renewed").replies({ agentId: "P01" });
  });

  it("stays shut down while its league runs, and enters no other", () => {
    const running = [open("rps"), player("A", { port: 1 }), player("B", { port: 2 }), referee("R"), startLeague("rps")];
    const removed = [...running, removePlayer("P01"), open("next")];
    given(...removed)
      .when(player("A", { port: 1 }))
      .leadsTo()
      .replies({ leagueIds: ["rps"] });
    given(...removed)
      .when(player("A", { port: 1, league_ids: ["next"] }))
      .isRejected("L001", "you are shut down, until the leagues that you are in are over");
  });
});

describe("entries", () => {
  it("max_players is a limit, also for two that come in one batch", () => {
    const state = stateAfter([
      open("rps"),
      player("A", { port: 1 }, withSeats(2)),
      player("B", { port: 2 }, withSeats(2)),
    ]);
    givenState(state)
      .when(player("C", { port: 3 }, withSeats(2)))
      .isRejected("L002", "every league of your games is full");
    const named = player("C", { port: 3, league_ids: ["rps"] }, withSeats(2));
    givenState(state).when(named).isRejected("L002", "league rps is full");
    givenState(state)
      .when(player("A", { port: 9 }, withSeats(2)))
      .replies({ agentId: "P01", leagueIds: ["rps"] });
  });

  it("a league without max_players accepts 500 players", () => {
    const many = Array.from({ length: MOST_PLAYERS }, (_, n) => player(`N${n}`, { port: 10_000 + n }));
    const state = stateAfter([open("rps"), ...many]);
    expect(state.leagues.get("rps")?.entrants.size).toBe(500);
    givenState(state)
      .when(player("more", { port: 1 }))
      .isRejected("L002", "every league of your games is full");
  }, 20_000);

  it("a roster accepts the players of its places, regardless of min_players and max_players", () => {
    const policy = {
      ...withSeats(1),
      startWhen: "roster" as const,
      places: [playerPlace("P01", "A"), playerPlace("P02", "B")],
    };
    const state = stateAfter([open("rps"), player("B", { port: 2 }, policy)]);
    expect([...state.agents.keys()]).toEqual(["P02"]);
    givenState(state)
      .when(player("A", { port: 1 }, policy))
      .replies({ agentId: "P01", leagueIds: ["rps"] });
    const why = 'the league is only for the players of its config, which has no place for "D"';
    givenState(state)
      .when(player("D", { port: 4 }, policy))
      .isRejected("L002", why);
  });

  it("an agent of the run is identified by its token, and no other agent gets its name or endpoint", () => {
    const own = { endpoint: endpointAt(9101), tokenHash: sha256Hex(tokenOf("own")) };
    const policy = { ...POLICY, startWhen: "roster" as const, places: [{ ...playerPlace("P01", "Ann"), own }] };
    given(open("rps"))
      .when(player("Ann", { port: 9109 }, policy))
      .isRejected("L003", "the name Ann is kept for an agent of this run");
    given(open("rps"))
      .when(player("X", { port: 9101 }, policy))
      .isRejected("L003", `the endpoint ${endpointAt(9101)} is kept for an agent of this run`);
    const ann = player("Ann", { port: 9101, token: tokenOf("own") }, policy);
    given(open("rps"))
      .when(ann)
      .replies({ agentId: "P01", token: tokenOf("own") });
  });
});

describe("ids", () => {
  it("the id of a removed player is given to no other player", () => {
    const taken = [open("rps"), player("A", { port: 1 }), player("B", { port: 2 }), removePlayer("P02")];
    given(...taken)
      .when(player("C", { port: 3 }))
      .replies({ agentId: "P03" });
    given(...taken)
      .when(player("B", { port: 2 }))
      .replies({ agentId: "P03", isNew: true });
  });

  it("a forgotten player of a place gets its id again", () => {
    const policy = {
      ...POLICY,
      startWhen: "roster" as const,
      places: [playerPlace("P01", "A"), playerPlace("P02", "B")],
    };
    const taken = [
      open("rps"),
      player("A", { port: 1 }, policy),
      player("B", { port: 2 }, policy),
      removePlayer("P01"),
    ];
    given(...taken)
      .when(player("A", { port: 1 }, policy))
      .replies({ agentId: "P01", isNew: true });
  });
});

it("a decision does not change the state on which it was made", () => {
  const state = stateAfter([open("rps"), player("Ann", { port: 1 })]);
  const decided = player("Bob", { port: 1, ...left("P01") })(state, AT);
  expect(decided.ok && applied(state, decided.value).agents.size).toBe(2);
  expect([...state.agents.values()]).toMatchObject([{ id: "P01", endpoint: endpointAt(1) }]);
  expect([...(state.leagues.get("rps")?.entrants.keys() ?? [])]).toEqual(["P01"]);
});
