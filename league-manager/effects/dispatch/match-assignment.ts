import { matchRef } from "#shared/lib/ids.ts";
import { counted } from "#shared/lib/text.ts";
import type { Agent } from "../../agents/registered-agent.ts";
import {
  type Assignment,
  assignMatch,
  foreignPlayers,
  occupiedPlayers,
  releaseMatches,
} from "../../commands/match-commands.ts";
import { matchOf } from "../../league/evolve.ts";
import { opensAtOnce } from "../../league/format-view.ts";
import { type League, type Match, positionOf } from "../../league/league.ts";
import type { OpenWork } from "../../league/open-work.ts";
import type { Commit, ManagerState } from "../../ledger.ts";
import type { EffectsContext, Part } from "../effects-context.ts";
import type { Health, Patience } from "./referee-health.ts";
import { AnsweringReferees, type Referees } from "./referees.ts";

/** Assigns the scheduled matches of opened rounds to referees, and takes them from referees that are down or no longer registered. */
export class Dispatch implements Part {
  readonly duty = "match";
  readonly #context: EffectsContext;
  readonly #health: Health;
  readonly #referees: Referees;
  readonly #answering: AnsweringReferees;
  readonly #failedAttempts = new FailedAttempts();
  readonly #removeListener: () => void;
  /** Assignments that are not committed yet, by league and match. */
  readonly #pending = new Map<string, Assignment>();
  /** The commands that are not answered yet, by league. */
  readonly #runningCommands = new Map<string, Set<Promise<void>>>();
  /** The reason in the last notice about the waiting matches of a league, by league id. */
  readonly #noticedReasons = new Map<string, string>();

  constructor(context: EffectsContext, health: Health, referees: Referees) {
    this.#context = context;
    this.#health = health;
    this.#referees = referees;
    this.#answering = new AnsweringReferees(context, referees);
    this.#removeListener = context.ledger.onCommit((commit) => this.#failedAttempts.onCommit(commit));
  }

  reconcile(league: League, work: OpenWork): void {
    if (work.unassigned.size > 0 && !league.isPaused) this.#assignAll(league, work.unassigned.values());
    else this.#noticedReasons.delete(league.leagueId);
    // After the assignments, so that a lost match is only released if there is capacity left for it.
    const lost = this.#lostMatches(league, work.assigned.values());
    if (lost.length > 0) this.#release(league.leagueId, lost);
  }

  /** Resolves when the running commands of a league are answered. */
  async settled(leagueId: string): Promise<void> {
    await Promise.all(this.#runningCommands.get(leagueId) ?? []);
  }

  async stop(): Promise<void> {
    this.#removeListener();
    await this.#answering.stop();
    await Promise.all([...this.#runningCommands.values()].flatMap((commands) => [...commands]));
  }

  /** The number of further matches that each referee that is up can have, by referee id. */
  freeCapacity(): Map<string, number> {
    const occupied = this.#occupied();
    return new Map(this.#referees.up().map(({ id, maxConcurrent }) => [id, maxConcurrent - (occupied.get(id) ?? 0)]));
  }

  /** The number of further matches of a league that its referees can have. If this manager reaches no referee, others of several managers may reach them. */
  freeSlots({ game }: League, isOnlyManager: boolean): number {
    const occupied = this.#occupied();
    const up = this.#referees.up();
    const free = (up.length > 0 || isOnlyManager ? up : this.#referees.registered())
      .filter(({ gameTypes }) => gameTypes.includes(game))
      .map(({ id, maxConcurrent }) => Math.max(0, maxConcurrent - (occupied.get(id) ?? 0)));
    return free.reduce((sum, count) => sum + count, 0);
  }

  /** The turns of players of other dialects, with the assignments that are not committed yet. */
  turns(): ForeignTurns {
    return new ForeignTurns(this.#context.ledger.state, this.#pending.values());
  }

  /** The fit referees, except the given one, that are eligible for a match. */
  othersFor(league: League, match: Match, refereeId: string): readonly Agent[] {
    const occupied = this.#occupied();
    const others = this.#referees
      .up()
      .filter((referee) => referee.id !== refereeId && this.#referees.isFit(referee, occupied));
    return [...this.#referees.eligible(league, others)(match)];
  }

  /** The time for which the silence of its referee does not end a match: longer if a person, or a model that plays by tools, has a seat. */
  patienceFor({ players }: Match): Patience {
    const { agents } = this.#context.ledger.state;
    return players.some((id) => agents.get(id)?.isPlayedByHand === true) ? "person" : "programs";
  }

  /**
   * The matches whose referees have lost them and that another referee can begin at once: it has capacity and takes requests. A match without such a referee stays where it is, and continues
   * if its referee answers again.
   */
  #lostMatches(league: League, assigned: Iterable<Match>): readonly Match[] {
    const { agents } = this.#context.ledger.state;
    let free: Map<string, number> | null = null;
    const lost: Match[] = [];
    for (const match of assigned) {
      const refereeId = match.refereeId ?? "";
      if (!this.#health.isLost(refereeId, this.patienceFor(match))) continue;
      if (!agents.has(refereeId)) {
        lost.push(match);
        continue;
      }
      if (league.isPaused) continue;
      free ??= this.freeCapacity();
      const other = this.othersFor(league, match, refereeId)
        .filter(({ id }) => (free?.get(id) ?? 0) > 0)
        .find((candidate) => this.#answering.hasAnswered(candidate, league));
      if (!other) continue;
      free.set(other.id, (free.get(other.id) ?? 0) - 1);
      lost.push(match);
    }
    return lost;
  }

  #occupied(): Map<string, number> {
    const occupied = new Map<string, number>();
    const add = (refereeId: string, count: number): void =>
      void occupied.set(refereeId, (occupied.get(refereeId) ?? 0) + count);
    const { leagues } = this.#context.ledger.state;
    for (const league of leagues.values()) {
      for (const [refereeId, count] of league.occupied) add(refereeId, count);
    }
    for (const { leagueId, matchId, epoch, refereeId } of this.#pending.values()) {
      const league = leagues.get(leagueId);
      const match = league && matchOf(league, matchId);
      const isCommitted = match?.status !== "scheduled" || match.epoch !== epoch;
      if (!isCommitted) add(refereeId, 1);
    }
    return occupied;
  }

  /**
   * Assigns matches to the least loaded referees, as far as there is capacity. Of equally loaded ones the nth match of a round prefers the nth. Loads are
   * compared in quarters of the capacity, because several leagues load a referee in an order that differs between runs: a run of few matches has the
   * same assignments each time.
   */
  #assignAll(league: League, unassigned: Iterable<Match>): void {
    const up = this.#referees.up();
    const occupied = this.#occupied();
    const hasCapacity = ({ id, maxConcurrent }: Agent): boolean => (occupied.get(id) ?? 0) < maxConcurrent;
    if (!up.some(hasCapacity)) return;
    const turns = this.turns();
    const eligibleFor = this.#referees.eligible(league, up);
    const withoutReferee: Match[] = [];
    for (const match of unassigned) {
      if (this.#pending.has(matchRef(league.leagueId, match.matchId))) continue;
      if (!up.some(hasCapacity)) break;
      if (!turns.isTurnOf(match)) continue;
      const eligible = eligibleFor(match);
      if (eligible.size === 0) withoutReferee.push(match);
      if (![...eligible].some(hasCapacity)) continue;
      const first = turnOf(league, match) % up.length;
      const order = [...up.slice(first), ...up.slice(0, first)].filter((candidate) => eligible.has(candidate));
      const referee = leastLoaded(this.#preferred(league, match, order, occupied), occupied);
      if (!referee) continue;
      occupied.set(referee.id, (occupied.get(referee.id) ?? 0) + 1);
      this.#assign(league, match, referee);
      turns.assign(match);
    }
    this.#noticeWithoutReferee(league, withoutReferee, up);
  }

  /** The preferred referees of a match: fit ones that have not failed it, else fit ones, else all. */
  #preferred(
    { leagueId }: League,
    { matchId }: Match,
    eligible: readonly Agent[],
    occupied: ReadonlyMap<string, number>,
  ): readonly Agent[] {
    const fit = eligible.filter((referee) => this.#referees.isFit(referee, occupied));
    const untried = fit.filter(({ id }) => !this.#failedAttempts.has(leagueId, matchId, id));
    return [untried, fit].find((candidates) => candidates.length > 0) ?? eligible;
  }

  #assign({ leagueId }: League, { matchId, epoch }: Match, { id: refereeId }: Agent): void {
    const key = matchRef(leagueId, matchId);
    const assignment = { leagueId, matchId, epoch, refereeId };
    this.#pending.set(key, assignment);
    const assigned = this.#context.execute(leagueId, assignMatch(assignment)).finally(() => this.#pending.delete(key));
    this.#track(leagueId, assigned);
  }

  /** Releases matches. Each pass repeats this until it is committed; matches that are already released are not changed. */
  #release(leagueId: string, matches: readonly Match[]): void {
    const { agents } = this.#context.ledger.state;
    const releases = matches.map(({ matchId, epoch, refereeId }) => {
      const detail = `referee ${refereeId} ${agents.has(refereeId ?? "") ? "does not answer" : "is no longer registered"}`;
      return { leagueId, matchId, epoch, reason: "unreachable", detail } as const;
    });
    this.#track(leagueId, this.#context.execute(leagueId, releaseMatches(releases)));
  }

  #track(leagueId: string, execution: Promise<void>): void {
    const commands = this.#runningCommands.get(leagueId) ?? new Set();
    this.#runningCommands.set(leagueId, commands);
    const command: Promise<void> = execution.finally(() => commands.delete(command));
    commands.add(command);
  }

  /** Sends a notice about matches without an eligible referee, once for each league and reason. */
  #noticeWithoutReferee({ leagueId, game }: League, withoutReferee: readonly Match[], up: readonly Agent[]): void {
    const [first] = withoutReferee;
    if (!first) return void this.#noticedReasons.delete(leagueId);
    const isPlayed = up.some(({ gameTypes }) => gameTypes.includes(game));
    const reason = isPlayed
      ? "no referee that answers can reach its players; only referees on this machine can reach a player on its loopback address"
      : `no referee that answers plays ${game}`;
    if (this.#noticedReasons.get(leagueId) === reason) return;
    this.#noticedReasons.set(leagueId, reason);
    const others =
      withoutReferee.length > 1 ? ` (and ${counted(withoutReferee.length - 1, "more match", "more matches")})` : "";
    this.#context.notice(`${leagueId} ${first.matchId}${others} waits: ${reason}`);
  }
}

/** The turn of a match in the order of the referees: its index in its round, from 0. Rounds that are opened at once follow each other. */
const turnOf = (league: League, { matchId, roundId }: Match): number =>
  (positionOf(matchId)?.index ?? 0) + (opensAtOnce(league) ? roundId - 1 : 0);

/** The referee with free capacity of which the fewest quarters are occupied. Of equal ones it is the first. */
function leastLoaded(referees: readonly Agent[], occupied: ReadonlyMap<string, number>): Agent | undefined {
  const loadOf = ({ id, maxConcurrent }: Agent): number => Math.floor((4 * (occupied.get(id) ?? 0)) / maxConcurrent);
  let least: Agent | undefined;
  for (const referee of referees) {
    const isFree = (occupied.get(referee.id) ?? 0) < referee.maxConcurrent;
    if (isFree && (!least || loadOf(referee) < loadOf(least))) least = referee;
  }
  return least;
}

/**
 * The referees that have failed a match: they aborted it, rejected it or did not complete it in time. Other referees are preferred for the match. A
 * referee that was down has not failed: otherwise a match could wait for a busy referee while this one is free. The failures are in memory only, so
 * after a restart a match may be assigned to such a referee again. The number of aborts of a match is part of the league's state.
 */
class FailedAttempts {
  /** Referee ids by league id and match id. */
  readonly #failed = new Map<string, Map<string, Set<string>>>();

  onCommit({ events }: Commit): void {
    for (const committed of events) {
      if (committed.kind !== "league") continue;
      const { leagueId, event } = committed;
      if (event.type === "match_released" && event.reason !== "unreachable") {
        this.#add(leagueId, event.match_id, event.referee_id);
      }
      if (event.type === "match_completed" || event.type === "match_aborted") {
        this.#failed.get(leagueId)?.delete(event.match_id);
      }
    }
  }

  has(leagueId: string, matchId: string, refereeId: string): boolean {
    return this.#failed.get(leagueId)?.get(matchId)?.has(refereeId) === true;
  }

  #add(leagueId: string, matchId: string, refereeId: string): void {
    const byMatch = this.#failed.get(leagueId) ?? new Map<string, Set<string>>();
    this.#failed.set(leagueId, byMatch);
    byMatch.set(matchId, (byMatch.get(matchId) ?? new Set()).add(refereeId));
  }
}

/** Which scheduled matches may be assigned now: a player of another dialect has one match at a time. */
class ForeignTurns {
  readonly #state: ManagerState;
  readonly #pending: Iterable<Assignment>;
  /** The players that have a match; null until a match has a player of another dialect. */
  #occupied: Set<string> | null = null;

  /** `pending` are assignments that are not committed yet. */
  constructor(state: ManagerState, pending: Iterable<Assignment>) {
    this.#state = state;
    this.#pending = pending;
  }

  isTurnOf(match: Match): boolean {
    return foreignPlayers(this.#state, match).every((id) => !this.#players().has(id));
  }

  /** Counts a match as assigned. */
  assign(match: Match): void {
    for (const id of foreignPlayers(this.#state, match)) this.#players().add(id);
  }

  #players(): Set<string> {
    if (this.#occupied) return this.#occupied;
    const occupied = occupiedPlayers(this.#state);
    for (const { leagueId, matchId } of this.#pending) {
      const league = this.#state.leagues.get(leagueId);
      for (const id of (league && matchOf(league, matchId)?.players) ?? []) occupied.add(id);
    }
    this.#occupied = occupied;
    return occupied;
  }
}

/** The number of jobs that a manager holds although no referee has free capacity, so that a referee that becomes free gets a match at once. */
const AHEAD = 16;

type FreeCapacity = Pick<Dispatch, "freeCapacity" | "turns">;
type KnownReferees = Pick<Referees, "up" | "registered" | "eligible">;

/** Determines which jobs of the queue a manager takes and keeps, when there are several managers: those that its referees can play. */
export class KeptJobs {
  readonly #dispatch: FreeCapacity;
  readonly #referees: KnownReferees;

  constructor(dispatch: FreeCapacity, referees: KnownReferees) {
    this.#dispatch = dispatch;
    this.#referees = referees;
  }

  /**
   * The number of further jobs that this manager can take; none while no referee answers it. `waiting` are the matches that it holds and that are not
   * assigned. A match that no referee can play does not count, nor one whose player of another dialect has another match, so that it does not keep
   * others from being played.
   */
  slots(waiting: Iterable<readonly [League, Match]>): number {
    const up = this.#referees.up();
    if (up.length === 0) return 0;
    let slots = AHEAD;
    for (const free of this.#dispatch.freeCapacity().values()) slots += Math.max(0, free);
    const eligible = this.#eligible(up);
    const turns = this.#dispatch.turns();
    for (const [league, match] of waiting) {
      if (turns.isTurnOf(match) && eligible(league, match).size > 0) slots--;
    }
    return slots;
  }

  /**
   * Returns a function that determines whether this manager keeps the job of a match. It does not while no referee answers it, nor if a referee plays
   * the game and none that can play the match answers it: another manager may reach one.
   */
  keeps(): (league: League, match: Match) => boolean {
    const up = this.#referees.up();
    const registered = this.#referees.registered();
    const eligible = this.#eligible(up);
    return (league, match) => {
      if (up.length === 0) return false;
      if (match.status !== "scheduled" || eligible(league, match).size > 0) return true;
      return !registered.some(({ gameTypes }) => gameTypes.includes(league.game));
    };
  }

  #eligible(candidates: readonly Agent[]): (league: League, match: Match) => ReadonlySet<Agent> {
    const byLeague = new Map<League, ReturnType<Referees["eligible"]>>();
    return (league, match) => {
      const eligible = byLeague.get(league) ?? this.#referees.eligible(league, candidates);
      byLeague.set(league, eligible);
      return eligible(match);
    };
  }
}
