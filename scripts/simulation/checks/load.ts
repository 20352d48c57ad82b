import { MAX_PENDING } from "../hostile.ts";
import type { Load, Machine } from "../machines/machine.ts";
import { DATABASE, isManager } from "../machines/names.ts";
import { matchesAtOnce, type Plan, roundsOf } from "../plan.ts";
import { type Fault, faultsOf } from "./rules.ts";

/** The open resources that the process of a machine may have, by its role. */
interface Limits {
  readonly manager: Load;
  readonly referee: Load;
  readonly player: Load;
}

/** Timers that a process has however large the league is: periodic checks, the registration, the commit under way and the end of a turn. */
const OWN_TIMERS = 15;
/** The same of one of several managers: heartbeats, clocks, notifications, and the requests to the database that are not about a match. */
const SHARED_RUN_TIMERS = 15;
/** The connections to another process: a WebSocket in each direction, and one that is replaced and not closed yet. */
const SOCKETS_PER_PEER = 3;
/** The requests of a manager to an agent, besides those about matches: a probe, the one before it that ends now, an announcement. */
const MANAGER_REQUESTS_PER_PEER = 3;
/** ROUND_END, LEAGUE_STANDINGS_UPDATE, ROUND_ANNOUNCEMENT and ROUND_START. */
const ANNOUNCEMENTS_PER_ROUND = 4;
/** The rounds of one match after which the players are notified: even/odd has up to five. */
const GAME_ROUNDS = 5;
/** The notifications that a referee may have under way to one player about a match: its start, its rounds, a timeout, its result. */
const NOTIFICATIONS_PER_SEAT = 3 + GAME_ROUNDS;
const SEATS = 2;
const MAX_TURNS_BY_HAND = 200;

/** What the agents of a plan may need at the same time. */
interface Needs {
  /** The other processes: agents and copies. */
  readonly peers: number;
  readonly managers: number;
  readonly referees: number;
  readonly recipients: number;
  /** The matches at the same time: those of a round, or of a format that plays many rounds at once. */
  readonly matches: number;
  readonly rounds: number;
  /** The players that send messages which they may not send. */
  readonly liars: number;
  /** The turns that are played by hand within the time of a move. Each has a timer until its end, also after the move. */
  readonly turnsByHand: number;
  readonly hasInboxes: boolean;
}

/**
 * Returns the limits of the processes of a plan. They are the sums of what the program can need at the same time: one timer for each request that is under
 * way or waits for its repetition, one for the pings of each WebSocket, and those that are listed below. A resource that is not released exceeds them
 * sooner or later, or is left after the stop.
 */
export function limitsOf(plan: Plan): Limits {
  const needs = needsOf(plan);
  return { manager: managerLimits(needs), referee: refereeLimits(needs), player: playerLimits(needs) };
}

function needsOf(plan: Plan): Needs {
  const { managers, referees, players, disturbances, contacts = [] } = plan;
  const copies = new Set(disturbances.flatMap((one) => (one.type === "copy" ? [one.machine] : []))).size;
  return {
    managers,
    referees,
    rounds: roundsOf(plan),
    recipients: players.length + referees,
    peers: managers + referees + players.length + copies,
    matches: Math.floor(players.length / SEATS) + matchesAtOnce(plan),
    liars: players.filter((behaviour) => behaviour === "lying" || behaviour === "hostile").length,
    turnsByHand: plan.visitor === undefined ? 0 : MAX_TURNS_BY_HAND,
    hasInboxes: contacts.includes("inbox"),
  };
}

function managerLimits({ peers, managers, referees, recipients, matches, rounds, liars }: Needs): Load {
  // START_GAME, and MATCH_WITHDRAWN to each referee from which the match was taken.
  const aboutMatches = matches * (1 + referees);
  const requests = peers * MANAGER_REQUESTS_PER_PEER + aboutMatches;
  const sockets = peers * SOCKETS_PER_PEER;
  // Each announcement of a round, and of the end of the league, has a time limit for each recipient. An agent that begins to listen gets all at once.
  const announcements = (rounds + 1) * recipients;
  const deadlines = matches;
  // Of several managers each also has a request to the database, its answer and a job for each match, waits for the announcement of each seat, and
  // forwards the requests of agents.
  const forwarded = peers + matches + liars * MAX_PENDING;
  const shared = managers > 1 ? SHARED_RUN_TIMERS + matches * (3 + SEATS) + forwarded : 0;
  return {
    timers: OWN_TIMERS + requests + sockets + announcements + deadlines + shared,
    connections: requests + sockets + (managers > 1 ? forwarded : 0),
    // The ledger decides all commands that arrive during a commit together.
    commits: 2,
  };
}

function refereeLimits({ peers, matches }: Needs): Load {
  // The matches of the round, and those before whose players have not acknowledged the last notifications.
  const seats = 2 * matches * SEATS;
  const requests = seats * (1 + NOTIFICATIONS_PER_SEAT) + 2 * matches;
  const sockets = peers * SOCKETS_PER_PEER;
  return {
    timers: OWN_TIMERS + requests + sockets,
    connections: 1 + requests + sockets,
    // The registration and its token; of each match a session of an earlier epoch that ends, the new session, its end and the moves of both players.
    commits: 2 + matches * (3 + SEATS),
  };
}

function playerLimits({ peers, matches, liars, turnsByHand, hasInboxes }: Needs): Load {
  // A slow or lying player waits before each answer, also to a request that arrives twice and to that of an earlier epoch.
  const answers = 4 * matches;
  const forgeries = liars > 0 ? MAX_PENDING : 0;
  const sockets = peers * SOCKETS_PER_PEER;
  // Each answer to a request of an inbox begins another poll, while the earlier ones wait for their replies.
  const polls = hasInboxes ? answers + ANNOUNCEMENTS_PER_ROUND : 0;
  return {
    timers: OWN_TIMERS + answers + forgeries + sockets + turnsByHand + polls,
    connections: 1 + forgeries + sockets + polls,
    commits: 0,
  };
}

/** Returns the faults of a machine whose process has more open resources than its limits. */
export function faultsOfLoad({ name, process }: Machine, limits: Limits): readonly Fault[] {
  if (!process || name === DATABASE) return [];
  const load = process.load();
  const { timers, connections, commits } = limits[roleOf(name)];
  const faults: string[] = [];
  if (load.timers > timers) faults.push(`${name} has more than ${timers} timers`);
  if (load.connections > connections) faults.push(`${name} has more than ${connections} connections`);
  if (load.commits > commits) faults.push(`${name} has more than ${commits} commits`);
  return faultsOf("resources", faults);
}

const roleOf = (name: string): keyof Limits =>
  isManager(name) ? "manager" : name.startsWith("referee") ? "referee" : "player";
