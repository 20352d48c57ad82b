import type { z } from "zod";
import { equalSecrets } from "#shared/lib/hash.ts";
import type { Ids } from "#shared/lib/ids.ts";
import { err, ok, type Result } from "#shared/lib/result.ts";
import { type ProtocolError, protocolError } from "#shared/protocol/errors.ts";
import { type Caller, type Operation, operation } from "#shared/rpc/mcp/operations.ts";
import type { AdmissionPolicy } from "../agents/places.ts";
import { forgetPlayer, removePlayer, resetToken } from "../commands/agent-commands.ts";
import {
  addPlayer,
  annulMatch,
  endLeague,
  extendLeague,
  openLeague,
  pauseLeague,
  resumeLeague,
  scheduleMatch,
  startLeague,
} from "../commands/league-commands.ts";
import { noLeague } from "../league/decide.ts";
import { currentMatches, endOfRound, type League, type LeagueSettings } from "../league/league.ts";
import type { Decide, Ledger } from "../ledger.ts";
import { waitingText } from "../projections/live-lines.ts";
import type { Views } from "../projections/projections.ts";
import {
  Added,
  AddPlayer,
  Annulled,
  AnnulMatch,
  Ended,
  Extended,
  ExtendLeague,
  Forgotten,
  LeagueId,
  LeagueStatus,
  Opened,
  OpenLeague,
  Paused,
  PlayerId,
  Removed,
  Resumed,
  Scheduled,
  ScheduleMatch,
  Started,
  StatusRequest,
  TokenReset,
} from "./tool-schemas.ts";

interface OperatorContext {
  readonly ledger: Pick<Ledger, "execute" | "state">;
  readonly views: Pick<Views, "projections" | "leagueSeedOf" | "awaited">;
  readonly silentReferees: () => readonly string[];
  readonly operatorToken: string;
  readonly policy: AdmissionPolicy;
  /** The settings of a new league like a league of the config; null if the config has no such league. */
  readonly settingsLike: (configId: string, leagueId: string) => LeagueSettings | null;
  readonly ids: Ids;
}

/** The operations that need the operator token. */
export const operatorOperations = (context: OperatorContext): readonly Operation<unknown>[] => [
  opening(context),
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

function opening({ ledger, policy, settingsLike, operatorToken }: OperatorContext): Operation<unknown> {
  return operation({
    request: "OPEN_LEAGUE",
    reply: "OPEN_LEAGUE_RESPONSE",
    payload: OpenLeague,
    tool: {
      name: "open_league",
      title: "Open a league",
      description:
        "Opens a league with the settings of a league that is over, for further matches without a restart of the manager. Players can then enter it. Needs the operator token.",
      plain: OpenLeague,
      result: Opened,
      annotations: { readOnlyHint: false, destructiveHint: false },
    },
    handle: operatorGate(operatorToken)(async ({ league_id, like }: z.infer<typeof OpenLeague>) => {
      const settingsOf = (configId: string) => settingsLike(configId, league_id);
      const opened = await ledger.execute(openLeague(policy, { leagueId: league_id, like }, settingsOf));
      return opened.ok ? ok({ status: "OPENED", league_id, like: opened.value.configId }) : opened;
    }),
  });
}

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

function tokenReset({ ledger, policy, ids, operatorToken }: OperatorContext): Operation<unknown> {
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
      const reset = await ledger.execute(resetToken(player_id, ids.token(), policy.places));
      return reset.ok ? ok({ status: "RESET", player_id, auth_token: reset.value.token }) : reset;
    }),
  });
}

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
          referee_id: id,
          state,
          answers: !silent.has(id),
          max_matches: maxConcurrent,
        })),
      });
    }),
  });
}

type Row = z.infer<typeof LeagueStatus>["leagues"][number];

/** The state of a league for its operator. */
export function leagueStatus({ projections, awaited }: Pick<Views, "projections" | "awaited">, league: League): Row {
  const { leagueId, game, format, formatOptions, startsAt, rounds, currentRound, matchCount, completedCount } = league;
  const result = projections.result(league);
  const waits = awaited(league);
  const endMs = currentRound === null ? null : endOfRound(league, currentRound);
  return {
    league_id: leagueId,
    game,
    format,
    format_options: { ...formatOptions },
    late_entry: league.lateEntry,
    clock: league.clock && { ...league.clock },
    version: league.version,
    status: league.isPaused ? "paused" : league.status,
    starts_at: league.status === "open" ? startsAt : null,
    waits_for: waits && waitingText(waits),
    current_round: currentRound,
    rounds: rounds.length,
    round_ends_at: endMs === null ? null : new Date(endMs).toISOString(),
    matches: matchCount,
    completed: completedCount,
    being_played: currentMatches(league).filter(({ status }) => status === "assigned").length,
    expected_matches: league.status === "open" ? null : projections.expectedMatches(league),
    result: result && { ...result, pairs: [...result.pairs] },
    players: projections.standings(league).map(({ player_id, display_name, rank, points }) => ({
      player_id,
      display_name,
      rank,
      points,
      state: projections.agent(player_id)?.state ?? null,
    })),
  };
}
