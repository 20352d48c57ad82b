import { ok } from "#shared/lib/result.ts";
import type { MatchResult } from "#shared/protocol/messages.ts";
import type { Agent } from "../agents/agent.ts";
import { fieldsOf } from "../agents/capabilities.ts";
import { Draft } from "../commands/draft.ts";
import { dropReferee } from "../commands/leave.ts";
import { reportResult } from "../commands/report.ts";
import { matchSeeds } from "../league/seeds.ts";
import type { Decide } from "../ledger.ts";
import type { ScriptedLeague } from "./scripted-league.ts";

/** The result of a match is committed, and the manager is killed before anything follows from it. */
export const recorded = (result: MatchResult) =>
  reportResult(result, "REF01", matchSeeds("s")(result.league_id, result.match_id, result.epoch));

/** REF01 and REF02 are registered as REF99 and REF100. */
export const renamedReferees = (league: ScriptedLeague): Decide<null> => {
  const renamed = [
    ["REF01", "REF99"],
    ["REF02", "REF100"],
  ] as const;
  return ({ agents }) => {
    const referees = renamed.map(([from, to]) => ({ from, to, agent: agents.get(from) as Agent }));
    return ok({
      agentEvents: referees.flatMap(({ from, to, agent }) => [
        { agentId: from, event: { type: "forgotten" as const } },
        {
          agentId: to,
          event: {
            type: "registered" as const,
            agent_id: to,
            kind: "referee" as const,
            name_commitment: "",
            ...fieldsOf(agent),
          },
        },
      ]),
      writes: referees.flatMap(({ from, to, agent: { name, salt, tokenHash } }) => [
        { type: "erase_profile" as const, agentId: from },
        {
          type: "profile" as const,
          agentId: to,
          profile: { name, salt, tokenHash, endpoint: league.referee(from).url },
        },
      ]),
      reply: null,
    });
  };
};

/** A referee is forgotten, as when it makes room for another one. */
export const withoutReferee =
  (refereeId: string): Decide<null> =>
  (state, at) => {
    const draft = new Draft(state, at);
    dropReferee(draft, refereeId);
    return draft.decision(null);
  };

/** P02 is not registered any more, which no command leads to in a running league. P01 and P03 play the league `later`. */
export const withoutP02: Decide<null> = () =>
  ok({
    leagueEvents: [
      { type: "player_entered" as const, player_id: "P01", name_commitment: "" },
      { type: "player_entered" as const, player_id: "P03", name_commitment: "" },
      { type: "started" as const },
      {
        type: "round_paired" as const,
        round_id: 1,
        pairings: [{ match_id: "R1M1", players: ["P01", "P03"] }],
        byes: [],
      },
    ].map((event) => ({ leagueId: "later", event })),
    agentEvents: [{ agentId: "P02", event: { type: "forgotten" as const } }],
    writes: [{ type: "erase_profile" as const, agentId: "P02" }],
    reply: null,
  });
