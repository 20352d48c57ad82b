import { parsedJson } from "#shared/lib/text.ts";
import { START_MS } from "../machines/clock.ts";
import { isManager, machineOf, playerName } from "../machines/names.ts";
import type { ObservedRequest } from "../machines/network.ts";
import { dialectOf, type Plan } from "../plan.ts";
import type { CheckedEnvelope } from "./messages.ts";
import type { Fault } from "./rules.ts";

/** Checks the messages to players of other dialects and their answers, without the code that translates them. */
interface Dialects {
  /** Whether the id is that of a player of another dialect. */
  isForeign(playerId: string): boolean;
  /** The process of a machine has started or ended. A referee that starts asks for the open moves again, each with the whole time. */
  onProcess(machine: string): void;
  /** Returns the faults of a request that was sent at the virtual time `sentAt`. */
  onRequest(request: ObservedRequest, sentAt: number): readonly Fault[];
  /** A late copy of an answer in a separate request has no tick, so it may count as the answer to a later turn. */
  onCopy(request: ObservedRequest): void;
  onAnswer(request: ObservedRequest, reply: string): void;
  /** Returns the faults of a referee's report: the actions of these players are their answers, in time. */
  onReport(report: CheckedEnvelope): readonly Fault[];
}

type Message = Readonly<Record<string, unknown>>;

/** A call for a move. The messages have no tick, so that the position identifies the turn. */
interface Call {
  readonly sentAt: number;
  readonly limitMs: number;
  answeredAt: number | null;
  /** The ids of the requests. A request that is sent again after a lost connection keeps its id. */
  readonly ids: Set<unknown>;
}

/** A move that a player has sent. */
interface Move {
  readonly move: unknown;
  /** Whether it was sent within the time of its turn. */
  readonly isInTime: boolean;
}

/** Time limits are rounded to milliseconds, in a call and in its repetitions. */
const ROUNDING_MS = 5;
const CALLS: ReadonlySet<unknown> = new Set(["CHOOSE_PARITY_CALL", "GAME_MOVE_CALL", "MOVE_REQUEST"]);
const INVITATIONS: ReadonlySet<unknown> = new Set(["GAME_INVITATION", "GAME_START"]);
/** The referee reports a result that a player has not acknowledged for this time (GAME_RESULT in PROTOCOL.md). */
const RESULT_MS = 5_000;
const RESULTS: ReadonlySet<unknown> = new Set(["GAME_OVER", "GAME_END"]);

export function createDialects(plan: Plan, now: () => number): Dialects {
  const machines = new Set(plan.players.flatMap((_, n) => (dialectOf(plan, n) ? [playerName(n)] : [])));
  const takesRounds = plan.players.flatMap((_, n) => {
    const program = dialectOf(plan, n);
    return program === "handle message" || program === "later answers" ? [playerName(n)] : [];
  });
  const state: Exchanges = {
    machines,
    now,
    isCalm: plan.disturbances.every(({ type }) => type === "slow"),
    isAlone: plan.managers === 1,
    players: new Map(),
    tokens: new Map(),
    reset: new Set(resetIn(plan).map(machineOf)),
    calls: new Map(),
    last: new Map(),
    moves: new Map(),
    results: new Set(),
    ended: new Set(),
    rounds: new Set(),
    takesRounds: new Set(takesRounds),
  };
  return {
    isForeign: (playerId) => state.players.has(playerId),
    onProcess(machine) {
      forgetCalls(state, `${machine} `);
      for (const player of machines) state.ended.delete(`${machine} ${player}`);
    },
    onRequest(request, sentAt) {
      if (machines.has(request.from)) recordLateAnswer(state, request);
      return machines.has(request.to) ? faultsOfMessage(state, request, sentAt) : [];
    },
    onCopy(request) {
      if (machines.has(request.from)) recordLateAnswer(state, request);
    },
    onAnswer(request, reply) {
      if (machines.has(request.from)) learnPlayer(state, request, reply);
      if (!machines.has(request.to)) return;
      const message = messageIn(request.body);
      if (CALLS.has(message?.message_type)) recordMove(state, request.to, message ?? {}, moveIn(reply));
    },
    onReport: (report) => (state.players.size === 0 ? [] : faultsOfReport(state, report)),
  };
}

/** The names of the players whose tokens an operator resets. */
const resetIn = ({ calls = [] }: Plan): readonly string[] =>
  calls.flatMap(({ tool, isForged, players = [] }) => (tool === "reset_token" && !isForged ? players : []));

interface Exchanges {
  readonly machines: ReadonlySet<string>;
  readonly now: () => number;
  /** Whether the plan has no disturbances, except slow messages. */
  readonly isCalm: boolean;
  /** Whether the run has one manager. Several managers repeat an announcement if they could not record in the database that it was delivered. */
  readonly isAlone: boolean;
  /** The machines of the registered players, by their ids. */
  readonly players: Map<string, string>;
  readonly tokens: Map<string, unknown>;
  /** The machines of the players whose tokens an operator resets. */
  readonly reset: ReadonlySet<string>;
  /** The calls, by the sender, the player and the position. */
  readonly calls: Map<string, Call>;
  /** The last call to a player about a match. */
  readonly last: Map<string, Call>;
  /** The moves of a player in a match. */
  readonly moves: Map<string, Move[]>;
  /** The matches whose result a player has received. */
  readonly results: Set<string>;
  /** The ends of rounds that a player has received. */
  readonly rounds: Set<string>;
  /** The machines of the programs that know the end of a round. It is sent again to others. */
  readonly takesRounds: ReadonlySet<string>;
  /** The last messages of the league, by their senders and receivers. */
  readonly ended: Set<string>;
}

const matchKey = (machine: string, { match_id }: Message): string => `${machine} ${match_id}`;

function forgetCalls({ calls }: Exchanges, prefix: string): void {
  for (const key of calls.keys()) if (key.startsWith(prefix)) calls.delete(key);
}

function learnPlayer({ players, tokens }: Exchanges, { from }: ObservedRequest, reply: string): void {
  if (!reply.includes("LEAGUE_REGISTER_RESPONSE")) return;
  const { player_id, auth_token } = (parsedJson(reply) as { result?: Message } | null)?.result ?? {};
  if (typeof player_id !== "string") return;
  players.set(player_id, from);
  if (auth_token) tokens.set(from, auth_token);
}

function faultsOfMessage(state: Exchanges, request: ObservedRequest, sentAt: number): readonly Fault[] {
  const { from, to, body } = request;
  // A lying player sends native messages to every player.
  if (from.startsWith("player")) return [];
  if (body.includes('"league_message"')) return [`dialects: ${from} sent a native message to ${to}`];
  const message = messageIn(body);
  if (!message) return [];
  const { message_type: type, auth_token } = message;
  const faults: Fault[] = [];
  if (auth_token && isTokenOfOther(state, to, auth_token))
    faults.push(`dialects: ${from} sent ${type} to ${to} with another token than that of its registration`);
  // A message is sent in several forms to a player that does not know it. Announcements are repeated after a restart.
  if (state.isAlone && isManager(from) && state.ended.has(`${from} ${to}`) && type !== "LEAGUE_COMPLETED")
    faults.push(`dialects: ${from} sent ${type} to ${to} after LEAGUE_COMPLETED`);
  const { method } = parsedJson(body) as { readonly method?: string };
  const round = `${to} ${message.league_id} ${message.round_id} ${method}`;
  if (
    type === "ROUND_COMPLETED" &&
    state.isCalm &&
    state.isAlone &&
    state.takesRounds.has(to) &&
    state.rounds.has(round)
  )
    faults.push(`dialects: ${from} sent ${type} of round ${message.round_id} to ${to} again`);
  if (type === "ROUND_COMPLETED") state.rounds.add(round);
  if (type === "LEAGUE_COMPLETED") state.ended.add(`${from} ${to}`);
  // The answer to its registration may be lost, although the player is registered.
  if (INVITATIONS.has(type)) state.players.set(String(message.player_id), to);
  // A further attempt at the match begins with another invitation.
  if (INVITATIONS.has(type)) forgetCalls(state, `${from} ${to} ${message.match_id} `);
  if (RESULTS.has(type)) state.results.add(matchKey(to, message));
  return CALLS.has(type) ? [...faults, ...faultsOfCall(state, request, message, sentAt)] : faults;
}

/** Whether a token is that of another player, or not that of the registration of a player. After a reset it may be one that the player does not know yet. */
function isTokenOfOther({ tokens, reset }: Exchanges, machine: string, token: unknown): boolean {
  const own = tokens.get(machine);
  if (own === undefined || token === own) return false;
  return !reset.has(machine) || [...tokens.values()].includes(token);
}

/** Returns a fault if a further call of a turn has more than the rest of its time. */
function faultsOfCall(
  state: Exchanges,
  { from, to, body }: ObservedRequest,
  message: Message,
  sentAt: number,
): readonly Fault[] {
  const { id } = parsedJson(body) as { readonly id?: unknown };
  const { message_type, match_id, game_state, time_limit_seconds } = message;
  const key = `${from} ${to} ${match_id} ${JSON.stringify(game_state)}`;
  const limitMs = Number(time_limit_seconds) * 1_000;
  const call = state.calls.get(key) ?? { sentAt, limitMs, answeredAt: null, ids: new Set() };
  state.calls.set(key, call);
  state.last.set(matchKey(to, message), call);
  const restMs = call.limitMs - ((call.answeredAt ?? call.sentAt) - call.sentAt);
  const isSentAgain = call.ids.has(id);
  call.ids.add(id);
  if (isSentAgain || limitMs <= restMs + ROUNDING_MS) return [];
  return [`deadlines: ${match_id}: a repeated ${message_type} to ${to} has ${limitMs} ms instead of ${restMs} ms`];
}

function recordLateAnswer(state: Exchanges, { from, body }: ObservedRequest): void {
  const message = messageIn(body);
  const isMove = ["CHOOSE_PARITY_RESPONSE", "GAME_MOVE_RESPONSE"].some((type) => type === message?.message_type);
  if (message && isMove) recordMove(state, from, message, moveIn(body));
}

function recordMove({ last, moves, now }: Exchanges, machine: string, message: Message, move: unknown): void {
  const key = matchKey(machine, message);
  const call = last.get(key);
  if (call) call.answeredAt = now();
  if (move === undefined) return;
  const isInTime = call !== undefined && now() <= call.sentAt + call.limitMs;
  moves.set(key, [...(moves.get(key) ?? []), { move, isInTime }]);
}

function faultsOfReport(
  { players, moves, results, isCalm, now }: Exchanges,
  { payload }: CheckedEnvelope,
): readonly Fault[] {
  const { match_id, epoch, termination } = payload;
  const [created, ...entries] = (payload.log as string[]).map((text) => JSON.parse(text) as Entry);
  const sinceEndMs = START_MS + now() - Date.parse(entries.at(-1)?.at ?? "");
  return Object.entries(created?.participants ?? {}).flatMap(([role, agent]): readonly Fault[] => {
    const machine = players.get(agent.split("@", 1)[0] ?? "");
    if (machine === undefined) return [];
    const key = matchKey(machine, payload);
    const isNotified = !isCalm || termination === "aborted" || results.has(key) || sinceEndMs >= RESULT_MS;
    const early: readonly Fault[] = isNotified
      ? []
      : [`dialects: ${match_id}: the result was reported before ${machine} had received it`];
    let open: readonly Move[] = moves.get(key) ?? [];
    for (const { action } of entries.filter((entry) => entry.type === "acted" && entry.role === role)) {
      const same = open.filter(({ move }) => isSameMove(move, action));
      const sent = same.find(({ isInTime }) => isInTime) ?? same[0];
      const about = `${match_id}/${epoch}/${role}: the move ${JSON.stringify(action)}`;
      if (!sent) return [...early, `moves: ${about} in the log is not an answer of ${machine}`];
      if (!sent.isInTime) return [...early, `deadlines: ${about} was accepted after its limit`];
      open = open.slice(open.indexOf(sent) + 1);
    }
    return early;
  });
}

interface Entry {
  readonly type: string;
  readonly at: string;
  readonly role?: string;
  readonly action?: unknown;
  readonly participants?: Readonly<Record<string, string>>;
}

/** Whether an action is the move of a player. A parity stands for any number of this parity. */
function isSameMove(move: unknown, action: unknown): boolean {
  if (move === "even" || move === "odd") return action === move || (Number(action) % 2 === 0) === (move === "even");
  return move === action || (typeof action === "string" && (Number(move) % 2 === 0 ? "even" : "odd") === action);
}

/** Returns the message in the body of a request. */
function messageIn(body: string): Message | null {
  const rpc = parsedJson(body) as { readonly params?: Message } | null;
  const places = [rpc?.params, rpc?.params?.message, rpc?.params?.arguments] as readonly (Message | undefined)[];
  return places.find((place) => typeof place?.message_type === "string") ?? null;
}

/** Returns the move in an answer; undefined without one. */
function moveIn(text: string): unknown {
  const plain = text.replaceAll('\\"', '"');
  const [, row, column] = /"row":(\d),"col":(\d)/.exec(plain) ?? [];
  if (row !== undefined) return `${String.fromCharCode(97 + Number(column))}${3 - Number(row)}`;
  const [, value] = /"(?:parity_choice|choice|number)":("[^"]*"|\d+)/.exec(plain) ?? [];
  return value === undefined ? undefined : JSON.parse(value);
}
