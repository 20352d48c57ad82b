import { createHash, createHmac } from "node:crypto";
import type { LeagueEvent } from "../../../league-manager/league/events.ts";
import { isManager, isOperator } from "../machines/names.ts";
import type { ObservedRequest } from "../machines/network.ts";
import { OPERATOR_TOKEN } from "../operator.ts";
import { CHANGING_TOOLS, type Plan } from "../plan.ts";
import type { LogEntry } from "./log.ts";
import { type CheckedEnvelope, type ToolAnswer, type ToolCall, toolAnswerIn, toolCallIn } from "./messages.ts";
import { type Fault, faultsOf } from "./rules.ts";

/** Checks what PROTOCOL.md promises to an operator, by its calls, their answers and the events that are committed. */
interface Operators {
  onRequest(passed: ObservedRequest): void;
  onAnswer(passed: ObservedRequest, reply: string): readonly Fault[];
  /** An invitation of a referee to a player, which is signed with the token of the player. */
  onInvitation(request: CheckedEnvelope): readonly Fault[];
  /** Returns the faults in the log of a run that has ended. */
  faults(log: readonly LogEntry[]): readonly Fault[];
}

/** A call that has arrived at a manager. */
interface Arrived extends ToolCall {
  readonly body: string;
  readonly to: string;
  /** The number of events that were committed before. */
  readonly from: number;
  answer: ToolAnswer | null;
}

/** The token that a player had before an operator has reset it. */
interface Reset {
  readonly playerId: string;
  readonly token: string;
  /** The number of events that were committed with the reset. */
  readonly from: number;
}

/** What is known of the calls and the tokens of a run. */
interface Known {
  readonly calls: Arrived[];
  /** The tokens of the players, by id. */
  readonly tokens: Map<string, string>;
  readonly resets: Reset[];
  /** The requests with a token that was reset before they arrived. */
  readonly outdated: Set<string>;
}

/** `log` returns the committed events. */
export function createOperators({ calls: planned, managers, format }: Plan, log: () => readonly LogEntry[]): Operators {
  const known: Known = { calls: [], tokens: new Map(), resets: [], outdated: new Set() };
  const { calls, tokens, resets, outdated } = known;
  return {
    onRequest({ from, to, body }) {
      if (!planned || !isManager(to)) return;
      // One of several managers that cannot reach the database answers reads with the tokens that it knows.
      const isDecided = managers === 1 || body.includes('"PLAYER_REGISTER_REQUEST"');
      if (isDecided && resets.some(({ token }) => body.includes(token))) outdated.add(body);
      const call = isOperator(from) ? toolCallIn(body) : null;
      if (call) calls.push({ ...call, body, to, from: log().length, answer: null });
    },
    onAnswer({ from, to, body }, reply) {
      if (!planned || !isManager(to)) return [];
      if (body.includes('"PLAYER_REGISTER_REQUEST"')) noteRegistration(tokens, resets, reply);
      if (outdated.has(body) && !isRejection(reply))
        return [`operators: ${to} accepted a token of ${from} that was reset: ${reply.slice(0, 300)}`];
      return isOperator(from) ? faultsOfAnswer(known, to, body, toolAnswerIn(reply), log()) : [];
    },
    onInvitation: (request) =>
      request.type === "GAME_INVITE" && resets.length > 0 ? faultsOfInvitation(known, request, log()) : [],
    faults: (entries) =>
      faultsOf("operators", [
        ...lostCalls(calls, entries),
        ...unexplainedEvents(calls, entries),
        ...faultsOfPauses(entries),
        ...faultsOfEnds(entries),
        ...faultsOfRemovals(entries),
        ...faultsOfAborts(entries),
        ...(RESULTS_DECIDE.has(format?.id ?? "") ? faultsOfAnnulments(entries) : []),
        // The clocks of several managers differ while their database is slow.
        ...(managers === 1 ? faultsOfTimes(entries, !calls.some(isStart)) : []),
      ]),
  };
}

const isStart = ({ tool, token }: ToolCall): boolean => tool === "start_league" && token === OPERATOR_TOKEN;

/** Returns a fault if an accepted call has a wrong token, or is not recorded. */
function faultsOfAnswer(
  known: Known,
  to: string,
  body: string,
  answer: ToolAnswer | null,
  log: readonly LogEntry[],
): readonly Fault[] {
  const call = known.calls.find((one) => one.body === body && one.to === to && one.answer === null);
  if (!call || !answer) return [];
  call.answer = answer;
  if (answer.isRejected) return [];
  if (call.token !== OPERATOR_TOKEN && NEED_TOKEN.has(call.tool))
    return [`operators: ${to} has executed ${call.tool} without the operator token`];
  if (call.tool === "reset_token") noteReset(known, call, log);
  return isDone(call, answer, log) ? [] : [`operators: ${to} has answered ${body}, but has not recorded it`];
}

function noteReset({ tokens, resets }: Known, { answer, args, from }: Arrived, log: readonly LogEntry[]): void {
  const playerId = String(args.player_id);
  const before = tokens.get(playerId);
  const after = String(answer?.value.auth_token);
  const at = indexOf(log, from, (entry) => isOfAgent(entry, playerId, "token_reset"));
  if (before !== undefined && before !== after && at >= 0) resets.push({ playerId, token: before, from: at + 1 });
  tokens.set(playerId, after);
}

/** Returns a fault if a referee signs an invitation with a token that was reset before the match was assigned. */
function faultsOfInvitation(
  { resets, tokens }: Known,
  { payload, auth_token }: CheckedEnvelope,
  log: readonly LogEntry[],
): readonly Fault[] {
  const { league_id, match_id, epoch, roles, your_role } = payload;
  const playerId = (roles as Readonly<Record<string, string>>)[String(your_role)];
  const isAssignment = ({ stream, event }: LogEntry): boolean =>
    stream === `league:${league_id}` &&
    event.type === "match_assigned" &&
    event.match_id === match_id &&
    event.epoch === epoch;
  return resets.flatMap((reset): readonly Fault[] => {
    if (reset.playerId !== playerId || reset.token === tokens.get(playerId)) return [];
    const isSigned = auth_token === signatureOf(reset.token, `${league_id}/${match_id}`);
    return isSigned && indexOf(log, reset.from, isAssignment) >= 0
      ? [`operators: ${match_id}, epoch ${epoch}, is signed with a token of ${playerId} that was reset before`]
      : [];
  });
}

/** The tools that need the operator token. */
const NEED_TOKEN: ReadonlySet<string> = new Set([...CHANGING_TOOLS, "league_status"]);

/** Notes the token with which a manager has registered a player. A player that returns has the token that was current when it was handled. */
function noteRegistration(tokens: Map<string, string>, resets: readonly Reset[], reply: string): void {
  const value = toolAnswerIn(reply)?.value;
  if (value?.status !== "ACCEPTED" || resets.some(({ token }) => token === value.auth_token)) return;
  tokens.set(String(value.player_id), String(value.auth_token));
}

const isRejection = (reply: string): boolean =>
  /\\?"(error_code)\\?":\\?"[A-Z]\d+/.test(reply) || reply.includes('"error"');

const signatureOf = (token: string, subject: string): string =>
  createHmac("sha256", createHash("sha256").update(token).digest("hex")).update(subject).digest("base64url");

/** The index of the first entry from `from` on for which `isSought` returns true, or -1. */
function indexOf(log: readonly LogEntry[], from: number, isSought: (entry: LogEntry) => boolean): number {
  for (let index = from; index < log.length; index++) if (isSought(log[index] as LogEntry)) return index;
  return -1;
}

const isOfAgent = ({ stream, event }: LogEntry, agentId: unknown, ...types: readonly string[]): boolean =>
  stream === `agent:${agentId}` && types.includes(event.type);

/** Whether an event of the league is that of a call. */
function isOfCall({ tool, args }: ToolCall, entry: LogEntry): boolean {
  const { stream, event } = entry;
  if (tool === "reset_token") return isOfAgent(entry, args.player_id, "token_reset");
  if (tool === "remove_player") return isOfAgent(entry, args.player_id, "removed", "forgotten");
  if (tool === "forget_player") return isOfAgent(entry, args.player_id, "removed", "erased", "forgotten");
  if (stream !== `league:${args.league_id}`) return false;
  switch (tool) {
    case "pause_league":
      return event.type === "paused";
    case "resume_league":
      return event.type === "resumed";
    case "start_league":
      return event.type === "started";
    case "open_league":
      return event.type === "opened" && event.like === args.like;
    case "end_league":
      return event.type === "pairing_completed" && event.by === "operator";
    case "annul_match":
      return event.type === "match_annulled" && event.match_id === args.match_id && event.reason === args.reason;
    case "add_player":
      return event.type === "player_entered" && event.player_id === args.player_id;
    case "schedule_match":
      return (
        event.type === "match_scheduled" &&
        event.round_id === args.round_id &&
        String(event.players) === String([args.player1_id, args.player2_id])
      );
    case "extend_league":
      return (
        event.type === "extended" &&
        isRaised(event.format_options, args.format_options as Readonly<Record<string, unknown>>)
      );
    default:
      return false;
  }
}

const isRaised = (options: unknown, raised: Readonly<Record<string, unknown>>): boolean =>
  Object.entries(raised).every(([name, value]) => (options as Readonly<Record<string, unknown>>)?.[name] === value);

/**
 * Whether an accepted call is recorded: its event was committed while it was handled, or, if it changes nothing when it is repeated, before it arrived.
 * A pause or its end can be undone by another one, so that the state at the arrival counts.
 */
function isDone(call: Arrived, answer: ToolAnswer, log: readonly LogEntry[]): boolean {
  const { tool, from, args } = call;
  if (!NEED_TOKEN.has(tool) || tool === "league_status") return true;
  if (tool === "forget_player") return log.some((entry) => isOfAgent(entry, args.player_id, "erased", "forgotten"));
  const isRecorded = indexOf(log, from, (entry) => isOfCall(call, entry)) >= 0;
  if (isRecorded) {
    if (tool !== "schedule_match") return true;
    return log.some(({ event }) => event.type === "match_scheduled" && event.match_id === answer.value.match_id);
  }
  const before = log.slice(0, from);
  switch (tool) {
    case "pause_league":
      return isPausedAfter(before);
    case "resume_league":
      return !isPausedAfter(before);
    case "annul_match":
    case "add_player":
      return before.some((entry) => isOfCall(call, entry) || isAnnulled(entry, args.match_id));
    // A player that is shut down is not removed again.
    case "remove_player":
      return isShutDown(log, args.player_id);
    case "extend_league":
      return isRaised(optionsAfter(before), args.format_options as Readonly<Record<string, unknown>>);
    default:
      return false;
  }
}

const isOfLeague = (entry: LogEntry): entry is LogEntry & { readonly event: LeagueEvent } =>
  entry.stream === "league:sim";

const isAnnulled = (entry: LogEntry, matchId: unknown): boolean =>
  isOfLeague(entry) && entry.event.type === "match_annulled" && entry.event.match_id === matchId;

function isPausedAfter(log: readonly LogEntry[]): boolean {
  return log.findLast((entry) => isOfLeague(entry) && changesPause(entry.event))?.event.type === "paused";
}

/** Whether an event begins or ends a pause. A league that the operator has ended is not paused any more. */
const changesPause = (event: LeagueEvent): boolean =>
  event.type === "paused" ||
  event.type === "resumed" ||
  (event.type === "pairing_completed" && event.by === "operator");

const isShutDown = (log: readonly LogEntry[], agentId: unknown): boolean =>
  log.some((entry) => isOfAgent(entry, agentId, "removed", "forgotten", "dismissed")) ||
  log.filter((entry) => isOfAgent(entry, agentId, "timed_out")).length >= 3;

const optionsAfter = (log: readonly LogEntry[]): unknown =>
  log
    .filter(isOfLeague)
    .flatMap(({ event }) => ("format_options" in event ? [event.format_options] : []))
    .at(-1);

/** The accepted calls whose events the log does not have at the end, after the crashes of the run. */
const lostCalls = (calls: readonly Arrived[], log: readonly LogEntry[]): readonly string[] =>
  calls.flatMap((call) =>
    call.answer && !call.answer.isRejected && !isDone(call, call.answer, log)
      ? [`${call.tool} ${JSON.stringify(call.args)} was accepted and is lost`]
      : [],
  );

/**
 * Every change by an operator has a call with the operator token that was not rejected for good: a manager that has lost its database does not know whether
 * the change will be committed. A call that was repeated can change a league twice.
 */
function unexplainedEvents(calls: readonly Arrived[], log: readonly LogEntry[]): readonly string[] {
  const unused = calls.filter(
    ({ token, answer }) => token === OPERATOR_TOKEN && (!answer?.isRejected || answer.value.retryable === true),
  );
  return log.flatMap((entry) => {
    if (!isByOperator(entry)) return [];
    const index = unused.findIndex((call) => isOfCall(call, entry));
    if (index < 0) return [`no operator has caused ${entry.stream} ${JSON.stringify(entry.event)}`];
    unused.splice(index, 1);
    return [];
  });
}

function isByOperator({ event }: LogEntry): boolean {
  if (event.type === "pairing_completed") return event.by === "operator";
  if (event.type === "player_entered") return event.by_operator === true;
  if (event.type === "opened") return event.like !== undefined;
  if (event.type === "forgotten") return event.reason === "removed";
  return BY_OPERATOR.has(event.type);
}

const BY_OPERATOR: ReadonlySet<string> = new Set([
  "paused",
  "resumed",
  "match_annulled",
  "match_scheduled",
  "extended",
  "removed",
  "token_reset",
]);

/** While a league is paused no match is assigned, no round is paired, opened or ended, and the league is not completed. Only a paused league is resumed. */
function faultsOfPauses(log: readonly LogEntry[]): readonly string[] {
  let isPaused = false;
  return log.filter(isOfLeague).flatMap(({ event }) => {
    if (event.type === "resumed" && !isPaused) return ["the league was resumed, but was not paused"];
    if (changesPause(event)) isPaused = event.type === "paused";
    return isPaused && NOT_WHILE_PAUSED.has(event.type) ? [`${event.type} while the league was paused`] : [];
  });
}

const NOT_WHILE_PAUSED: ReadonlySet<string> = new Set([
  "match_assigned",
  "round_paired",
  "round_opened",
  "round_expired",
  "completed",
]);

/** After the operator has ended a league no match is assigned or completed. The same holds for an annulled, cancelled or aborted match. */
function faultsOfEnds(log: readonly LogEntry[]): readonly string[] {
  const over = new Map<string, string>();
  const given = new Map<string, unknown>();
  let isEnded = false;
  return log.filter(isOfLeague).flatMap(({ event }) => {
    if (event.type === "pairing_completed") isEnded ||= event.by === "operator";
    if (
      isEnded &&
      (event.type === "match_assigned" || event.type === "match_completed" || event.type === "round_paired")
    )
      return [`${event.type} after the operator had ended the league`];
    if (!("match_id" in event)) return [];
    const { match_id, type } = event;
    const end = over.get(match_id);
    if (type === "match_completed") given.set(match_id, event.match_points);
    if (type === "match_annulled") {
      // A match that was cancelled or aborted has given no points.
      const points = end === undefined ? given.get(match_id) : {};
      if (JSON.stringify(points) !== JSON.stringify(event.match_points))
        return [`${match_id} was annulled with other points than it had given`];
    }
    if (/^match_(annulled|cancelled|aborted)$/.test(type)) over.set(match_id, type);
    const isAllowed = type === "withdrawal_settled" || (type === "match_annulled" && end !== "match_annulled");
    return end && !isAllowed ? [`${type} of ${match_id} after ${end}`] : [];
  });
}

/**
 * The matches of a removed player in rounds that are opened after its removal are forfeited when the round is opened. Rounds of formats that open them
 * at once do not have the player.
 */
function faultsOfRemovals(log: readonly LogEntry[]): readonly string[] {
  const removed = new Set<string>();
  const matches = new Map<string, { readonly round: number; readonly players: readonly string[] }>();
  const awaited = new Set<string>();
  return log.flatMap((entry): readonly string[] => {
    const { stream, event } = entry;
    if (event.type === "removed" || event.type === "forgotten") removed.add(stream.slice("agent:".length));
    if (!isOfLeague(entry)) return [];
    const { event: change } = entry;
    if (change.type === "round_paired")
      for (const { match_id, players } of change.pairings) matches.set(match_id, { round: change.round_id, players });
    if (change.type === "match_scheduled")
      matches.set(change.match_id, { round: change.round_id, players: change.players });
    if (change.type === "round_opened") {
      const absent = new Set(change.absent.flatMap((one) => (one.removed ? [one.player_id] : [])));
      const ofRound = [...matches].filter(([, { round }]) => round === change.round_id);
      for (const [id, { players }] of ofRound) if (players.some((player) => removed.has(player))) awaited.add(id);
      return ofRound
        .flatMap(([, { players }]) => players.filter((player) => removed.has(player) && !absent.has(player)))
        .map((player) => `round ${change.round_id} was opened without the removal of ${player}`);
    }
    if (change.type === "match_assigned" && awaited.has(change.match_id))
      return [`${change.match_id} was assigned although one of its players was removed before its round`];
    if (change.type === "match_completed" && awaited.has(change.match_id) && change.termination !== "forfeit")
      return [`${change.match_id} was played although one of its players was removed before its round`];
    return [];
  });
}

/** No round ends before its time, and no league that the operator does not start starts before its time. All times are those of the managers. */
function faultsOfTimes(log: readonly LogEntry[], startsByItself: boolean): readonly string[] {
  let startsAt = 0;
  let roundMs = Number.POSITIVE_INFINITY;
  let since = 0;
  return log.filter(isOfLeague).flatMap(({ event }) => {
    const at = Date.parse(event.at);
    if (event.type === "opened" || event.type === "reconfigured") {
      startsAt = event.starts_at === undefined ? 0 : Date.parse(event.starts_at);
      roundMs = event.round_ms ?? Number.POSITIVE_INFINITY;
    }
    if (event.type === "started" && startsByItself && at < startsAt)
      return [`the league has started ${startsAt - at} ms before its time`];
    if (event.type === "round_opened" || event.type === "resumed") since = at;
    if (event.type === "round_expired" && at < since + roundMs)
      return [`round ${event.round_id} has expired after ${at - since} ms instead of ${roundMs} ms`];
    return [];
  });
}

/** A match is aborted for good after two other aborts. */
function faultsOfAborts(log: readonly LogEntry[]): readonly string[] {
  const aborts = new Map<string, number>();
  return log.filter(isOfLeague).flatMap(({ event }) => {
    if (event.type === "match_released" && /aborted|overdue/.test(event.reason))
      aborts.set(event.match_id, (aborts.get(event.match_id) ?? 0) + 1);
    if (event.type === "match_aborted" && aborts.get(event.match_id) !== ABORTS - 1)
      return [`${event.match_id} was aborted for good after ${aborts.get(event.match_id) ?? 0} other aborts`];
    return [];
  });
}

/** The abort of a match that is final. */
const ABORTS = 3;

/** The formats that pair a round by the results of the earlier ones. */
const RESULTS_DECIDE: ReadonlySet<string> = new Set(["swiss", "single-elimination", "double-elimination"]);

/** No match is annulled after the pairings of the next round. */
function faultsOfAnnulments(log: readonly LogEntry[]): readonly string[] {
  let paired = 0;
  return log.filter(isOfLeague).flatMap(({ event }) => {
    if (event.type === "round_paired") paired = Math.max(paired, event.round_id);
    return event.type === "match_annulled" && Number(/^R(\d+)M/.exec(event.match_id)?.[1]) < paired
      ? [`${event.match_id} was annulled after round ${paired} was paired`]
      : [];
  });
}
