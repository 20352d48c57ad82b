import type { z } from "zod";
import { err, ok, type Result } from "#shared/lib/result.ts";
import type { ProtocolError } from "#shared/protocol/errors.ts";
import { type Caller, type Operation, operation } from "#shared/rpc/mcp/operations.ts";
import { addPlayer, annulMatch, endLeague, extendLeague, pauseLeague, resumeLeague } from "../commands/operation.ts";
import { noLeague } from "../league/decisions/decision.ts";
import type { Decide, Ledger } from "../ledger.ts";
import type { Views } from "../projections/views.ts";
import { leagueStatus } from "./league-status.ts";
import {
  Added,
  AddPlayer,
  Annulled,
  AnnulMatch,
  Ended,
  Extended,
  ExtendLeague,
  LeagueStatus,
  Paused,
  Resumed,
  StatusRequest,
} from "./operation-schemas.ts";
import { LeagueId } from "./tool-schemas.ts";

type CommandAnswer = Result<object, ProtocolError>;

interface RunningContext {
  readonly ledger: Pick<Ledger, "execute" | "state">;
  readonly views: Pick<Views, "projections" | "awaited">;
  /** Returns the ids of the referees that do not answer. */
  readonly silentReferees: () => readonly string[];
  /** Wraps a handler that needs the operator token. */
  readonly operatorOnly: <P>(
    handle: (payload: P) => Promise<CommandAnswer>,
  ) => (payload: P, caller: Caller) => Promise<CommandAnswer>;
}

/** The operations by which an operator follows and changes running leagues. */
export const runningOperations = (context: RunningContext): readonly Operation<unknown>[] => [
  statusOperation(context),
  ...pauseOperations(context),
  extension(context),
  ending(context),
  addition(context),
  annulment(context),
];

/** Executes a command to an existing league, and answers with its id and these fields. */
async function execute(
  { ledger, views }: RunningContext,
  league_id: string,
  command: Decide<null>,
  answer: object,
): Promise<CommandAnswer> {
  if (!views.projections.league(league_id)) return err(noLeague(league_id, views.projections.leagues()));
  const executed = await ledger.execute(command);
  return executed.ok ? ok({ league_id, ...answer }) : executed;
}

const CHANGE = { readOnlyHint: false, destructiveHint: false } as const;

const pauseOperations = (context: RunningContext): readonly Operation<unknown>[] => [
  operation({
    request: "PAUSE_LEAGUE",
    reply: "PAUSE_LEAGUE_RESPONSE",
    payload: LeagueId,
    tool: {
      name: "pause_league",
      title: "Pause a league",
      description:
        "Pauses a running league: no match begins until resume_league. Matches that have begun are played to their end. Needs the operator token.",
      plain: LeagueId,
      result: Paused,
      annotations: CHANGE,
    },
    handle: context.operatorOnly(({ league_id }: z.infer<typeof LeagueId>) =>
      execute(context, league_id, pauseLeague(league_id), { status: "PAUSED" }),
    ),
  }),
  operation({
    request: "RESUME_LEAGUE",
    reply: "RESUME_LEAGUE_RESPONSE",
    payload: LeagueId,
    tool: {
      name: "resume_league",
      title: "Resume a league",
      description: "Continues a paused league. Needs the operator token.",
      plain: LeagueId,
      result: Resumed,
      annotations: CHANGE,
    },
    handle: context.operatorOnly(({ league_id }: z.infer<typeof LeagueId>) =>
      execute(context, league_id, resumeLeague(league_id), { status: "RESUMED" }),
    ),
  }),
];

const extension = (context: RunningContext): Operation<unknown> =>
  operation({
    request: "EXTEND_LEAGUE",
    reply: "EXTEND_LEAGUE_RESPONSE",
    payload: ExtendLeague,
    tool: {
      name: "extend_league",
      title: "Extend a league",
      description:
        "Raises the length of a running league: cycles of round-robin, rounds of swiss, games of match and gauntlet, matches of ladder, max_games of sprt. Needs the operator token.",
      plain: ExtendLeague,
      result: Extended,
      annotations: CHANGE,
    },
    handle: context.operatorOnly(({ league_id, format_options }: z.infer<typeof ExtendLeague>) =>
      execute(context, league_id, extendLeague(league_id, format_options), { status: "EXTENDED", format_options }),
    ),
  });

const ending = (context: RunningContext): Operation<unknown> =>
  operation({
    request: "END_LEAGUE",
    reply: "END_LEAGUE_RESPONSE",
    payload: LeagueId,
    tool: {
      name: "end_league",
      title: "End a league",
      description:
        "Ends a running league with the standings so far. Its matches that are not completed are cancelled and count for no player. It cannot be undone. Needs the operator token.",
      plain: LeagueId,
      result: Ended,
      annotations: { readOnlyHint: false, destructiveHint: true },
    },
    handle: context.operatorOnly(({ league_id }: z.infer<typeof LeagueId>) =>
      execute(context, league_id, endLeague(league_id), { status: "ENDED" }),
    ),
  });

const addition = (context: RunningContext): Operation<unknown> =>
  operation({
    request: "ADD_PLAYER",
    reply: "ADD_PLAYER_RESPONSE",
    payload: AddPlayer,
    tool: {
      name: "add_player",
      title: "Add a player",
      description:
        "Enters a registered player into a league, also after its start if the format has matches for it. Needs the operator token.",
      plain: AddPlayer,
      result: Added,
      annotations: CHANGE,
    },
    handle: context.operatorOnly(({ league_id, player_id }: z.infer<typeof AddPlayer>) =>
      execute(context, league_id, addPlayer(league_id, player_id), { status: "ADDED", player_id }),
    ),
  });

const annulment = (context: RunningContext): Operation<unknown> =>
  operation({
    request: "ANNUL_MATCH",
    reply: "ANNUL_MATCH_RESPONSE",
    payload: AnnulMatch,
    tool: {
      name: "annul_match",
      title: "Annul a match",
      description:
        "Makes a match of a running league count for no player, and publishes the reason. Rejected if pairings of later rounds depend on the match. It cannot be undone. Needs the operator token.",
      plain: AnnulMatch,
      result: Annulled,
      annotations: { readOnlyHint: false, destructiveHint: true },
    },
    handle: context.operatorOnly(({ league_id, match_id, reason }: z.infer<typeof AnnulMatch>) =>
      execute(context, league_id, annulMatch(league_id, match_id, reason), { status: "ANNULLED", match_id }),
    ),
  });

function statusOperation({ ledger, views, silentReferees, operatorOnly }: RunningContext): Operation<unknown> {
  return operation({
    request: "LEAGUE_STATUS",
    reply: "LEAGUE_STATUS_RESPONSE",
    payload: StatusRequest,
    tool: {
      name: "league_status",
      title: "Status of leagues",
      description:
        "Shows each league with its format, round, matches, time limits, players and the result of a sequential test, and the referees. Needs the operator token.",
      plain: StatusRequest,
      result: LeagueStatus,
      annotations: { readOnlyHint: true },
    },
    handle: operatorOnly(async ({ league_id }: z.infer<typeof StatusRequest>) => {
      const { projections } = views;
      if (league_id !== undefined && !projections.league(league_id))
        return err(noLeague(league_id, projections.leagues()));
      const leagues = projections.leagues().filter(({ leagueId }) => league_id === undefined || leagueId === league_id);
      const silent = new Set(silentReferees());
      const referees = [...ledger.state.agents.values()].filter(({ kind }) => kind === "referee");
      return ok({
        leagues: leagues.map((league) => leagueStatus(views, league)),
        referees: referees.map(({ id, state, maxConcurrent }) => ({
          ...{ referee_id: id, state, answers: !silent.has(id), max_matches: maxConcurrent },
        })),
      });
    }),
  });
}
