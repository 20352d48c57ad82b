import type { z } from "zod";
import { equalSecrets } from "#shared/lib/hash.ts";
import type { Ids } from "#shared/lib/ids.ts";
import { err, ok, type Result } from "#shared/lib/result.ts";
import { type ProtocolError, protocolError } from "#shared/protocol/errors.ts";
import { type Caller, type Operation, operation } from "#shared/rpc/mcp/operations.ts";
import type { Place } from "../agents/places.ts";
import { forgetPlayer } from "../commands/forget.ts";
import { startLeague } from "../commands/leagues.ts";
import { removePlayer, resetToken } from "../commands/players.ts";
import { scheduleMatch } from "../commands/rounds.ts";
import { noLeague } from "../league/decisions/decision.ts";
import type { Ledger } from "../ledger.ts";
import type { Views } from "../projections/views.ts";
import { runningOperations } from "./running-operations.ts";
import {
  Forgotten,
  LeagueId,
  PlayerId,
  Removed,
  Scheduled,
  ScheduleMatch,
  Started,
  TokenReset,
} from "./tool-schemas.ts";

interface OperatorContext {
  readonly ledger: Pick<Ledger, "execute" | "state">;
  readonly views: Pick<Views, "projections" | "leagueSeedOf" | "awaited">;
  readonly silentReferees: () => readonly string[];
  readonly operatorToken: string;
  readonly places: readonly Place[];
  readonly ids: Ids;
}

/** The operations that need the operator token. */
export const operatorOperations = (context: OperatorContext): readonly Operation<unknown>[] => [
  ...leagueOperations(context),
  ...runningOperations({ ...context, operatorOnly: operatorGate(context.operatorToken) }),
  removal(context),
  erasure(context),
  tokenReset(context),
];

/** Wraps a handler: a request without the operator token, or of a page of another site, is rejected with L004. */
const operatorGate =
  (operatorToken: string) =>
  <P>(handle: (payload: P) => Promise<Result<object, ProtocolError>>) =>
  async (payload: P, { authToken, isCrossOrigin }: Caller): Promise<Result<object, ProtocolError>> => {
    if (isCrossOrigin)
      return err(protocolError("L004", "pages of other sites (allowed_origins) cannot call the tools of the operator"));
    if (authToken !== null && equalSecrets(authToken, operatorToken)) return handle(payload);
    return err(
      protocolError(
        "L004",
        "the operator token is missing or wrong; it is in the file operator-token of the manager's data folder, which commands of the operator take as --data FOLDER",
      ),
    );
  };

function leagueOperations({ ledger, views, operatorToken }: OperatorContext): readonly Operation<unknown>[] {
  const operatorOnly = operatorGate(operatorToken);
  return [
    operation({
      request: "START_LEAGUE",
      reply: "START_LEAGUE_RESPONSE",
      payload: LeagueId,
      tool: {
        name: "start_league",
        title: "Start a league",
        description:
          "Closes the registration of a league, pairs its players and starts its matches. Needs the operator token.",
        plain: LeagueId,
        result: Started,
        annotations: { readOnlyHint: false, destructiveHint: false },
      },
      handle: operatorOnly(async ({ league_id }: z.infer<typeof LeagueId>) => {
        if (!views.projections.league(league_id)) return err(noLeague(league_id, views.projections.leagues()));
        const started = await ledger.execute(startLeague(league_id, views.leagueSeedOf(league_id)));
        return started.ok ? ok({ status: "STARTED", league_id, ...started.value }) : started;
      }),
    }),
    operation({
      request: "SCHEDULE_MATCH",
      reply: "SCHEDULE_MATCH_RESPONSE",
      payload: ScheduleMatch,
      tool: {
        name: "schedule_match",
        title: "Schedule a match",
        description:
          "Adds a match to the current or a later round of a running league: between player1_id and player2_id, or between all players of the list players. Needs the operator token.",
        plain: ScheduleMatch,
        result: Scheduled,
        annotations: { readOnlyHint: false, destructiveHint: false },
      },
      handle: operatorOnly(async (match: z.infer<typeof ScheduleMatch>) => {
        const { round_id, league_id, player1_id = "", player2_id = "" } = match;
        if (league_id !== undefined && !views.projections.league(league_id))
          return err(noLeague(league_id, views.projections.leagues()));
        const players = match.players ?? [player1_id, player2_id];
        const scheduled = await ledger.execute(scheduleMatch(league_id ?? null, players, round_id));
        if (!scheduled.ok) return scheduled;
        const { leagueId, matchId: match_id, roles } = scheduled.value;
        return ok({ status: "SCHEDULED", league_id: leagueId, match_id, round_id, roles });
      }),
    }),
  ];
}

function removal({ ledger, operatorToken }: OperatorContext): Operation<unknown> {
  return operation({
    request: "REMOVE_PLAYER",
    reply: "REMOVE_PLAYER_RESPONSE",
    payload: PlayerId,
    tool: {
      name: "remove_player",
      title: "Remove a player",
      description:
        "Removes a player from open leagues. In running leagues a round that has begun is played to its end, and the player's matches of later rounds are forfeited. A player that was only in open leagues may register again under the same name. Needs the operator token.",
      plain: PlayerId,
      result: Removed,
      annotations: { readOnlyHint: false, destructiveHint: true },
    },
    handle: operatorGate(operatorToken)(async ({ player_id }: z.infer<typeof PlayerId>) => {
      const removed = await ledger.execute(removePlayer(player_id));
      return removed.ok ? ok({ status: "REMOVED", player_id }) : removed;
    }),
  });
}

function erasure({ ledger, operatorToken }: OperatorContext): Operation<unknown> {
  return operation({
    request: "FORGET_PLAYER",
    reply: "FORGET_PLAYER_RESPONSE",
    payload: PlayerId,
    tool: {
      name: "forget_player",
      title: "Erase a player's personal data",
      description:
        "Removes a player and erases its name, its address and its token. Its matches and results stay, under its id. A player whose round is under way cannot be erased. Needs the operator token.",
      plain: PlayerId,
      result: Forgotten,
      annotations: { readOnlyHint: false, destructiveHint: true },
    },
    handle: operatorGate(operatorToken)(async ({ player_id }: z.infer<typeof PlayerId>) => {
      const forgotten = await ledger.execute(forgetPlayer(player_id));
      return forgotten.ok ? ok({ status: "FORGOTTEN", player_id }) : forgotten;
    }),
  });
}

function tokenReset({ ledger, places, ids, operatorToken }: OperatorContext): Operation<unknown> {
  return operation({
    request: "RESET_TOKEN",
    reply: "RESET_TOKEN_RESPONSE",
    payload: PlayerId,
    tool: {
      name: "reset_token",
      title: "Reset a player's token",
      description:
        "Replaces the token of a player that has lost it. The player registers again with the new token and keeps its id. Matches that have begun continue with the old token. Needs the operator token.",
      plain: PlayerId,
      result: TokenReset,
      annotations: { readOnlyHint: false, destructiveHint: true },
    },
    handle: operatorGate(operatorToken)(async ({ player_id }: z.infer<typeof PlayerId>) => {
      const reset = await ledger.execute(resetToken(player_id, ids.token(), places));
      return reset.ok ? ok({ status: "RESET", player_id, auth_token: reset.value.token }) : reset;
    }),
  });
}
