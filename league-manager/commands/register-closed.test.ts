import { describe, it } from "vitest";
import type { League } from "../league/league.ts";
import { startLeague } from "./league-commands.ts";
import { given, givenState, open, POLICY, player, referee, stateAfter } from "./testing/commands.ts";

/** What the operator of a served league can do. */
const ADVICE = " The operator can open another one with league open, or serve new leagues with --data FOLDER";

/** Where the games of a player are changed. */
const GAMES =
  "Change its games: `export const games` in a bot file, GAMES in join.py, or game_types of the registration";

describe("a new player", () => {
  it("is rejected when no league of its games is open", () => {
    given(open("rps"))
      .when(player("Ann", { game_types: ["chess"] }))
      .isRejected(
        "L001",
        `no league of your games is open: the leagues play rps.v1, and your player plays chess. ${GAMES}`,
        { context: {} },
      );
    const chess = player("Ann", { game_types: ["chess"], league_ids: ["rps"] });
    given(open("rps")).when(chess).isRejected("L001", `league rps plays rps.v1, and your player plays chess. ${GAMES}`);
    const running = [
      open("rps"),
      player("A", { port: 1 }),
      player("B", { port: 2 }),
      referee("R"),
      startLeague("rps", "seed"),
    ];
    given(...running)
      .when(player("Ann"))
      .isRejected("L001", `no league of your games is open: rps is running.${ADVICE}`, {
        context: { cause: "no_open_league" },
      });
    given(...running)
      .when(player("Ann", { league_ids: ["rps"] }))
      .isRejected("L001", "league rps is running and accepts no more players");
  });

  it("is rejected with the leagues that are over and the advice to serve new ones, except in a run", () => {
    const { leagues, ...rest } = stateAfter([open("rps", "other", "third"), player("A"), referee("R")]);
    const over = new Map([...leagues].map(([id, league]) => [id, { ...league, status: "completed" as const }]));
    const state = { ...rest, leagues: over };
    const Ann = (more: object, policy = POLICY) => givenState(state).when(player("Ann", { port: 2, ...more }, policy));
    Ann({}).isRejected("L001", `no league of your games is open: rps, other, third are over.${ADVICE}`);
    const inRun = { ...POLICY, startWhen: "roster" } as const;
    Ann({}, inRun).isRejected("L001", "no league of your games is open: rps, other, third are over", { context: {} });
    Ann({ league_ids: ["other"] }).isRejected("L001", `league other is over.${ADVICE}`);
    Ann({ league_ids: ["other"] }, { ...POLICY, startWhen: "roster" }).isRejected("L001", "league other is over");
  });

  it("is rejected with the other leagues that it can enter", () => {
    const { leagues, ...rest } = stateAfter([open("rps", "other", "third")]);
    const [rps, ...others] = [...leagues];
    const over = new Map([[rps?.[0] as string, { ...rps?.[1], status: "completed" } as League], ...others]);
    givenState({ ...rest, leagues: over })
      .when(player("Ann", { league_ids: ["rps"] }))
      .isRejected("L001", "league rps is over. Your player can enter: other, third");
  });
});
