import type { LeagueEvent } from "../../../league-manager/league/events.ts";
import { MANAGER, refereeName } from "../machines/names.ts";
import { type Disturbance, endOf, type Plan } from "../plan.ts";
import type { CheckedEnvelope } from "./messages.ts";
import { type Fault, faultsOf } from "./rules.ts";

/** An event of the league with the virtual time of its commit, in ms. */
export interface Timed {
  readonly at: number;
  readonly event: LeagueEvent;
}

/** A time in which a process has run or a referee had a match, in ms of virtual time. */
interface Interval {
  readonly from: number;
  readonly until: number;
}

/** Records when the processes run, and checks that the matches of referees that are lost are released in time. */
interface Release {
  onProcess(machine: string, isRunning: boolean): void;
  /** An answer of a referee. */
  onAnswer(referee: string, request: CheckedEnvelope, answer: CheckedEnvelope): void;
  /** `names` are the display names of the agents, by id. */
  faults(events: readonly Timed[], names: ReadonlyMap<string, string>): readonly Fault[];
}

const PROBE_MS = 1_000;
/** The probes that a referee may miss: that refuses connections, the same if it was not seen since the manager's start, that is silent. */
const MISSES = { refused: 3, atStart: 10, silent: 10 } as const;
/** The time of a match after a start of the manager. */
const AFTER_START_MS = 60_000;
/** The time for the probe that is under way, the pass of the manager and the commit. */
const SLACK_MS = 3_000;
/** After the other disturbances have ended, all other agents answer again after this time. */
const CALM_MS = 3_000;
/** `match_ms` of the config, unless the plan has another one. */
const DEFAULT_MATCH_MS = 86_400_000;

/** The check concerns runs with one manager: of several, the one that holds the job of the match may be lost, too. */
export function createRelease(plan: Plan, now: () => number): Release {
  const runs = new Map<string, { from: number; until: number }[]>();
  /** When referees have accepted matches. */
  const accepted = new Map<string, number>();
  return {
    onProcess(machine, isRunning) {
      const intervals = runs.get(machine) ?? [];
      runs.set(machine, intervals);
      const last = intervals.at(-1);
      if (isRunning) intervals.push({ from: now(), until: Number.POSITIVE_INFINITY });
      else if (last) last.until = now();
    },
    onAnswer(referee, { type, payload }, answer) {
      if (type === "START_GAME" && answer.type === "START_GAME_RESPONSE")
        accepted.set(`${referee} ${payload.match_id}/${payload.epoch}`, now());
    },
    faults(events, names) {
      const refused = refusedAfterAcceptance(plan, runs, accepted, events, names);
      if (plan.managers > 1) return faultsOf("release", refused);
      const endsAt = events.at(-1)?.at ?? 0;
      const observed = assignmentsIn(events, endsAt).flatMap((assignment) => {
        const machine = refereeName(Number(names.get(assignment.refereeId)?.slice(1)) - 1);
        // A match that is played by hand waits longer for its referee.
        const lost = plan.visitor === undefined ? keptByLost(plan, runs, { ...assignment, machine }) : [];
        const kept = [...lost, ...keptTooLong(plan, runs, assignment)];
        return kept.map((text) => `${assignment.match} ${text}`);
      });
      return faultsOf("release", [...refused, ...observed, ...releasedEarly(plan, runs, events, names)]);
    },
  };
}

/** A match that was taken from its referee. */
interface Released {
  readonly at: number;
  readonly matchId: string;
  readonly epoch: number;
  readonly machine: string;
  readonly players: readonly string[];
}

/**
 * Returns the releases for a reason, except in plans in which a referee leaves, because another one may get its id, and in those in which matches take too
 * long.
 */
function releasesFor(
  reason: "unreachable" | "refused",
  { matchMs, disturbances }: Plan,
  events: readonly Timed[],
  names: ReadonlyMap<string, string>,
): readonly Released[] {
  const players = new Map<string, readonly string[]>();
  if (matchMs !== undefined || disturbances.some(({ type }) => type === "retire")) return [];
  return events.flatMap(({ at, event }): readonly Released[] => {
    if (event.type === "round_paired") for (const one of event.pairings) players.set(one.match_id, one.players);
    if (event.type !== "match_released" || event.reason !== reason) return [];
    const { match_id: matchId, epoch } = event;
    const machine = refereeName(Number(names.get(event.referee_id)?.slice(1)) - 1);
    const ids = (players.get(matchId) ?? []).map((id) => names.get(id) ?? id);
    return [{ at, matchId, epoch, machine, players: ids }];
  });
}

/** Says which matches were released as rejected although their referee had accepted them and has run since. */
function refusedAfterAcceptance(
  plan: Plan,
  runs: Runs,
  accepted: ReadonlyMap<string, number>,
  events: readonly Timed[],
  names: ReadonlyMap<string, string>,
): readonly string[] {
  return releasesFor("refused", plan, events, names).flatMap(({ at, matchId, epoch, machine }) => {
    const acceptedAt = accepted.get(`${machine} ${matchId}/${epoch}`) ?? Number.POSITIVE_INFINITY;
    return (runAt(runs, machine, at)?.from ?? Number.POSITIVE_INFINITY) < acceptedAt && acceptedAt < at
      ? [`${matchId}, epoch ${epoch}, was released as rejected, although ${machine} had accepted it`]
      : [];
  });
}

/** Says which matches were taken from a referee before it had missed the probes that it may miss. */
function releasedEarly(
  plan: Plan,
  runs: Runs,
  events: readonly Timed[],
  names: ReadonlyMap<string, string>,
): readonly string[] {
  return releasesFor("unreachable", plan, events, names).flatMap(({ at, matchId, epoch, machine, players }) => {
    const run = runAt(runs, machine, at);
    const manager = runAt(runs, MANAGER, at);
    const isByHand = plan.visitor !== undefined && players.includes(`P${plan.visitor + 1}`);
    const misses = isByHand ? PROBES_BY_HAND : MISSES.silent;
    const disturbed = plan.disturbances.filter((one) => isSilence(one, machine) || isOfEither(one, machine));
    const ends = (runs.get(machine) ?? []).map(({ until }) => until);
    const silentMs = at - Math.min(at, ...disturbed.map((one) => one.at), ...ends);
    const early = `${matchId}, epoch ${epoch}, was taken from ${machine}`;
    // None of the last probes was refused, because the process has run.
    if (run && at - run.from > (MISSES.refused + 1) * PROBE_MS && silentMs < (misses - 1) * PROBE_MS)
      return [`${early} after ${Math.round(silentMs)} ms of silence`];
    const wasSeen = runs.get(machine)?.some(({ from, until }) => manager && from < at && until > manager.from);
    const sinceMs = at - (manager?.from ?? 0);
    return manager && !wasSeen && sinceMs < (MISSES.atStart - 1) * PROBE_MS
      ? [`${early}, which was not seen since the start of the manager, after ${Math.round(sinceMs)} ms`]
      : [];
  });
}

/** The probes that a referee may leave unanswered before it loses a match of a player that is played by hand. */
const PROBES_BY_HAND = 60;

/** Whether a disturbance can delay the probes of a referee. */
const isOfEither = (one: Disturbance, machine: string): boolean =>
  "machine" in one && (one.machine === machine || one.machine === MANAGER) && !UNRELATED.has(one.type);
/** Disturbances that delay no probe, or that the runs of the processes show. */
const UNRELATED: ReadonlySet<string> = new Set(["late copies", "crash", "clock set", "retire"]);

type Runs = ReadonlyMap<string, readonly Interval[]>;

interface Assignment extends Interval {
  readonly match: string;
  readonly refereeId: string;
}

function assignmentsIn(events: readonly Timed[], endsAt: number): readonly Assignment[] {
  const open = new Map<string, Assignment>();
  const ended: Assignment[] = [];
  for (const { at, event } of events) {
    if (!("match_id" in event)) continue;
    const before = open.get(event.match_id);
    if (before && event.type !== "withdrawal_settled") {
      ended.push({ ...before, until: at });
      open.delete(event.match_id);
    }
    if (event.type !== "match_assigned") continue;
    const { match_id, epoch, referee_id: refereeId } = event;
    open.set(match_id, { match: `${match_id}, epoch ${epoch},`, refereeId, from: at, until: endsAt });
  }
  return [...ended, ...open.values()];
}

const runAt = (runs: Runs, machine: string, at: number): Interval | undefined =>
  runs.get(machine)?.find(({ from, until }) => from <= at && at < until);

/** The times in which a referee does not answer, and the probes that it may miss in them. */
function lossesOf({ disturbances }: Plan, runs: Runs, machine: string): readonly (Interval & { isSilent: boolean })[] {
  const intervals = runs.get(machine) ?? [];
  const down = intervals.map(({ until }, index) => ({
    from: until,
    until: intervals[index + 1]?.from ?? Number.POSITIVE_INFINITY,
  }));
  const silences = disturbances.filter((one) => isSilence(one, machine));
  return [
    ...down.map((interval) => ({ ...interval, isSilent: false })),
    ...silences.map((one) => ({ from: one.at, until: endOf(one), isSilent: true })),
  ];
}

/** Whether a disturbance makes a referee silent for the manager. */
const isSilence = (one: Disturbance, machine: string): boolean =>
  (one.type === "stop" && one.machine === machine) ||
  (one.type === "partition" && one.between.includes(machine) && one.between.includes(MANAGER));

/** Says whether a match stays with a lost referee although another one is free and nothing disturbs the manager. */
function keptByLost(plan: Plan, runs: Runs, { machine, from, until }: Assignment & { machine: string }): string[] {
  const others = plan.disturbances.filter((one) => !isOf(one, machine) && !isSilence(one, machine));
  const calmAt = CALM_MS + Math.max(0, ...others.map(endOf));
  return lossesOf(plan, runs, machine).flatMap((loss) => {
    const start = Math.max(from, loss.from, calmAt);
    const manager = runAt(runs, MANAGER, start);
    const end = Math.min(until, loss.until, manager?.until ?? 0);
    const isOtherFree = Array.from({ length: plan.referees }, (_, n) => refereeName(n)).some((other) => {
      const run = other === machine ? undefined : runAt(runs, other, start - CALM_MS);
      return run !== undefined && run.until >= end;
    });
    if (!manager || !isOtherFree) return [];
    const wasSeen = runs
      .get(machine)
      ?.some((run) => Math.min(run.until, start) - Math.max(run.from, manager.from) > CALM_MS);
    const misses = loss.isSilent ? MISSES.silent : wasSeen ? MISSES.refused : MISSES.atStart;
    // A silent probe takes as long as the time between two of them.
    const limitMs = misses * PROBE_MS + SLACK_MS;
    const ms = end - Math.max(start, manager.from);
    return ms <= limitMs ? [] : [`stays with ${machine}, which is lost, for ${Math.round(ms)} ms`];
  });
}

/** Says whether a referee has a match for longer than `match_ms`, across restarts of the manager. */
function keptTooLong(plan: Plan, runs: Runs, { from, until }: Assignment): string[] {
  const matchMs = plan.matchMs ?? DEFAULT_MATCH_MS;
  if (plan.disturbances.some(({ type }) => type === "clock set")) return [];
  const starts = (runs.get(MANAGER) ?? []).filter((run) => run.from > from && run.from < until).map((run) => run.from);
  const full = plan.disturbances.filter((one) => one.type === "disk full" && one.machine === MANAGER);
  const endsAt = Math.max(
    from + matchMs,
    ...starts.map((at) => at + Math.min(matchMs, AFTER_START_MS)),
    // A manager that cannot write releases nothing.
    ...full.filter(({ at }) => at < from + matchMs + SLACK_MS).map(endOf),
  );
  const isManagerUp = (runAt(runs, MANAGER, endsAt)?.until ?? 0) > endsAt + SLACK_MS;
  if (until <= endsAt + SLACK_MS || !isManagerUp) return [];
  return [`was not released after ${matchMs} ms, but after ${Math.round(until - from)} ms`];
}

const isOf = (one: Disturbance, machine: string): boolean =>
  // Copies of messages delay nothing.
  one.type === "late copies" || ("machine" in one && one.machine === machine);

/** Checks that referees and players send nothing about an epoch that they know to be over. */
interface Epochs {
  /** The process of a machine has started or ended. */
  onProcess(machine: string): void;
  /** Returns the faults of a message of a referee that was sent at the virtual time `sentAt`. */
  onRequest(from: string, to: string, request: CheckedEnvelope, sentAt: number): readonly Fault[];
  onAnswer(from: string, to: string, request: CheckedEnvelope, answer: CheckedEnvelope): readonly Fault[];
}

interface Withdrawn {
  readonly epoch: number;
  /** The virtual time of the acknowledgement. */
  readonly at: number;
}

/** The messages of a referee that belong to an epoch. */
const ABOUT_EPOCH: ReadonlySet<string> = new Set(["GAME_INVITE", "MOVE_REQUEST", "GAME_RESULT", "MATCH_RESULT"]);

/** A referee keeps the withdrawn epochs, and a player the accepted ones, in the memory of its process. */
export function createEpochs({ players }: Plan, now: () => number): Epochs {
  const withdrawn = new Map<string, Map<unknown, Withdrawn>>();
  const accepted = new Map<string, Map<unknown, number>>();
  /** The requests for moves that arrived after a newer epoch was accepted. */
  const outdated = new Set<string>();
  const seeds = createSeeds();
  const invitations = createInvitations();
  /** A player that misbehaves may hold back an answer that it has given before it accepted a newer epoch. */
  const answersAtOnce = (machine: string): boolean =>
    players[Number(/^player (\d+)/.exec(machine)?.[1]) - 1] === "well";

  const valuesOf = <T>(maps: Map<string, Map<unknown, T>>, machine: string): Map<unknown, T> => {
    const values = maps.get(machine) ?? new Map<unknown, T>();
    maps.set(machine, values);
    return values;
  };
  const keyOf = (to: string, { id, message_id }: CheckedEnvelope): string => `${to} ${id} ${message_id}`;

  return {
    onProcess(machine) {
      withdrawn.delete(machine);
      accepted.delete(machine);
      invitations.onProcess(machine);
    },
    onRequest(from, to, request, sentAt) {
      const { type, payload } = request;
      const epoch = Number(payload.epoch);
      const newer = valuesOf(accepted, to).get(payload.match_id) ?? 0;
      if (type === "MOVE_REQUEST" && epoch < newer) outdated.add(keyOf(to, request));
      invitations.onRequest(to, request);
      if (type === "START_GAME") return seeds(request);
      if (!ABOUT_EPOCH.has(type)) return [];
      const last = valuesOf(withdrawn, from).get(payload.match_id);
      if (!last || epoch > last.epoch || sentAt <= last.at) return [];
      return [
        `epochs: ${from} sent ${type} of ${payload.match_id}, epoch ${epoch}, after epoch ${last.epoch} was withdrawn`,
      ];
    },
    onAnswer(from, to, request, answer) {
      const { match_id, epoch } = request.payload;
      if (request.type === "MATCH_WITHDRAWN" && answer.type === "ACK") {
        const ofReferee = valuesOf(withdrawn, to);
        const last = ofReferee.get(match_id);
        if (!last || Number(epoch) > last.epoch) ofReferee.set(match_id, { epoch: Number(epoch), at: now() });
      }
      if (request.type === "START_GAME" && answer.type === "START_GAME_RESPONSE") {
        const last = valuesOf(withdrawn, to).get(match_id);
        if (last && Number(epoch) <= last.epoch)
          return [
            `epochs: ${to} accepted ${match_id}, epoch ${epoch}, of ${from} after epoch ${last.epoch} was withdrawn`,
          ];
      }
      if (request.type === "GAME_INVITE" && answer.payload.accept === true) {
        const ofPlayer = valuesOf(accepted, to);
        ofPlayer.set(match_id, Math.max(Number(epoch), ofPlayer.get(match_id) ?? 0));
      }
      const again = invitations.onAnswer(to, request, answer);
      if (again.length > 0) return again;
      if (answer.type !== "MOVE_RESPONSE" || !outdated.has(keyOf(to, request)) || !answersAtOnce(to)) return [];
      return [`epochs: ${to} sent a move for ${match_id}, epoch ${epoch}, after it had accepted a newer epoch`];
    },
  };
}

/** Returns a check that each attempt at a match has its own seed. */
function createSeeds(): (order: CheckedEnvelope) => readonly Fault[] {
  const epochs = new Map<string, number>();
  return ({ payload }) => {
    const { match_id, seed } = payload;
    const key = `${match_id} ${seed}`;
    const epoch = Number(payload.epoch);
    const first = epochs.get(key) ?? epoch;
    epochs.set(key, first);
    return first === epoch ? [] : [`epochs: ${match_id} has the same seed in the epochs ${first} and ${epoch}`];
  };
}

/** Checks that players do not accept an invitation again after the result of its match. A process keeps its invitations in memory. */
function createInvitations() {
  const accepted = new Set<string>();
  const over = new Set<string>();
  const belated = new Set<string>();
  const keyOf = (machine: string, { message_id, payload }: CheckedEnvelope): string =>
    `${machine} ${matchOf(payload)} ${message_id}`;
  return {
    onProcess(machine: string): void {
      for (const set of [accepted, over, belated])
        for (const key of set) if (key.startsWith(`${machine} `)) set.delete(key);
    },
    onRequest(to: string, request: CheckedEnvelope): void {
      if (request.type !== "GAME_INVITE" || !over.has(`${to} ${matchOf(request.payload)}`)) return;
      if (accepted.has(keyOf(to, request))) belated.add(`${keyOf(to, request)} ${request.id}`);
    },
    onAnswer(to: string, request: CheckedEnvelope, answer: CheckedEnvelope): readonly Fault[] {
      if (request.type === "GAME_RESULT" && answer.type === "ACK") over.add(`${to} ${matchOf(request.payload)}`);
      if (request.type !== "GAME_INVITE" || answer.payload.accept !== true) return [];
      const { match_id, epoch } = request.payload;
      accepted.add(keyOf(to, request));
      return belated.has(`${keyOf(to, request)} ${request.id}`)
        ? [`epochs: ${to} accepted the invitation to ${match_id}, epoch ${epoch}, again after the result`]
        : [];
    },
  };
}

const matchOf = ({ match_id, epoch }: CheckedEnvelope["payload"]): string => `${match_id}/${epoch}`;
