import { ok } from "#shared/lib/result.ts";
import type { MatchResult } from "#shared/protocol/messages.ts";
import { type Agent, fieldsOf } from "../agents/registered-agent.ts";
import { dropReferee } from "../commands/agent-commands.ts";
import { Draft } from "../commands/draft.ts";
import { reportResult } from "../commands/match-commands.ts";
import { matchSeeds } from "../league/league.ts";
import type { Decide } from "../ledger.ts";
import { RUN_SEED, type ScriptedLeague } from "./scripted-league.ts";

/** Records a result of REF01, as if the manager had been killed immediately afterwards. */
export const recorded = (result: MatchResult) =>
  reportResult(result, "REF01", matchSeeds(RUN_SEED)(result.league_id, result.match_id, result.epoch));

/** Replaces the registrations of REF01 and REF02 by REF99 and REF100. */
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

/** Forgets a referee, as if it had been replaced by another one. */
export const withoutReferee =
  (refereeId: string): Decide<null> =>
  (state, at) => {
    const draft = new Draft(state, at);
    dropReferee(draft, refereeId, "silent");
    return draft.decision(null);
  };

/** Forgets P02, which no command does in a running league, and starts the league `later` with P01 and P03. */
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
