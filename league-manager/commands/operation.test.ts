import { describe, expect, it } from "vitest";
import { LEAGUE_SEED } from "../league/testing/leagues.ts";
import { removePlayer } from "./agent-commands.ts";
import { addPlayer, completeLeague, endLeague, openLeagues, startLeague } from "./league-commands.ts";
import { given, player, referee, settingsOf } from "./testing/commands.ts";

const makeup = { formatOptions: { makeup: true } };
const running = (lateEntry: "closed" | "makeup", ...more: string[]) => [
  openLeagues([{ ...settingsOf("rps"), ...makeup, lateEntry }, ...more.map((id) => settingsOf(id))]),
  player("A", { port: 1 }),
  player("B", { port: 2 }),
  referee("R"),
  startLeague("rps", LEAGUE_SEED),
];

describe("a player that registers after the start", () => {
  it("enters a league with late entries and is active at once", () => {
    given(...running("makeup"))
      .when(player("Late", { port: 3 }))
      .leadsTo("rps player_entered", "P03 registered", "P03 activated")
      .replies({ leagueIds: ["rps"] });
  });

  it("is active again if it was dismissed at the end of its former league", () => {
    const inBoth = ["A", "B"].map((name, index) => player(name, { port: 1 + index }));
    const { state } = given(
      openLeagues([settingsOf("former"), { ...settingsOf("rps"), ...makeup, lateEntry: "makeup" }]),
      ...inBoth,
      player("Late", { port: 3, league_ids: ["former"] }),
      referee("R"),
      startLeague("former", LEAGUE_SEED),
      startLeague("rps", LEAGUE_SEED),
      endLeague("former"),
      completeLeague("former"),
    )
      .when(player("Late", { port: 3 }))
      .leadsTo("rps player_entered", "P03 renewed", "P03 activated")
      .replies({ leagueIds: ["former", "rps"] });
    expect(state.agents.get("P03")).toMatchObject({ state: "ACTIVE" });
  });

  it("is rejected by an elimination, which has no matches for it", () => {
    const settings = { ...settingsOf("rps"), format: "single-elimination", lateEntry: "makeup" } as const;
    given(openLeagues([settings]), ...running("makeup").slice(1))
      .when(player("Late", { port: 3, league_ids: ["rps"] }))
      .isRejected("L001", "league rps is running, and its format has no matches for a player that enters now");
  });
});

describe("a player that the operator adds", () => {
  const withThird = [...running("closed", "other"), player("C", { port: 3, league_ids: ["other"] })];

  it("enters a running league that accepts no late entries", () => {
    given(...withThird)
      .when(addPlayer("rps", "P03"))
      .leadsTo("rps player_entered", "P03 activated");
  });

  it("must be registered and not shut down", () => {
    given(...withThird)
      .when(addPlayer("rps", "P09"))
      .isRejected("L004", "no player P09 is registered");
    given(...withThird, addPlayer("rps", "P03"), removePlayer("P03"))
      .when(addPlayer("other", "P03"))
      .isRejected("L001", "P03 is shut down; it must register again first");
  });
});
