import { err, ok } from "#shared/lib/result.ts";
import { protocolError } from "#shared/protocol/errors.ts";
import { type AgentCommand, decideAgent } from "../agents/decide.ts";
import type { LeagueCommand } from "../league/commands.ts";
import { decideLeague } from "../league/decide.ts";
import type { Decide } from "../ledger.ts";

const ofLeague =
  (leagueId: string, command: LeagueCommand): Decide<null> =>
  ({ leagues }) => {
    const league = leagues.get(leagueId);
    if (!league) return err(protocolError("L005", `no league ${leagueId}`, { league_id: leagueId }));
    const decided = decideLeague(league, command);
    if (!decided.ok) return decided;
    return ok({ leagueEvents: decided.value.map((event) => ({ leagueId, event })), reply: null });
  };

const ofAgents =
  (agentIds: (state: Parameters<Decide<null>>[0]) => Iterable<string>, command: AgentCommand): Decide<null> =>
  (state) =>
    ok({
      agentEvents: [...agentIds(state)].flatMap((agentId) => {
        const decided = decideAgent(state.agents.get(agentId) ?? null, command);
        return decided.ok ? decided.value.map((event) => ({ agentId, event })) : [];
      }),
      reply: null,
    });

export const assignMatch = (leagueId: string, matchId: string, epoch: number, refereeId: string): Decide<null> =>
  ofLeague(leagueId, { type: "assign", matchId, epoch, refereeId });

export const releaseMatch = (
  leagueId: string,
  matchId: string,
  epoch: number,
  reason: "unreachable" | "refused" | "overdue",
  detail: string,
): Decide<null> => ofLeague(leagueId, { type: "release", matchId, epoch, reason, detail });

export const settleWithdrawal = (leagueId: string, matchId: string, epoch: number, refereeId: string): Decide<null> =>
  ofLeague(leagueId, { type: "settle_withdrawal", matchId, epoch, refereeId });

export const announceRound = (leagueId: string, roundId: number): Decide<null> =>
  ofLeague(leagueId, { type: "announce_round", roundId });

export const openRound =
  (leagueId: string, roundId: number): Decide<null> =>
  (state, at) => {
    const absent = [...state.agents.values()].filter((agent) => agent.state === "SHUTDOWN");
    const shutDown = new Map(absent.map(({ id, version }) => [id, version]));
    return ofLeague(leagueId, { type: "open_round", roundId, shutDown })(state, at);
  };

export const completeLeague = (leagueId: string): Decide<null> => ofLeague(leagueId, { type: "complete" });

export const startLeague = (leagueId: string): Decide<null> => ofLeague(leagueId, { type: "start" });

export const recoverPlayer = (playerId: string, by: "health" | "registration"): Decide<null> =>
  ofAgents(() => [playerId], { type: "recover", by });
