import { matchRef } from "#shared/lib/ids.ts";
import { counted } from "#shared/lib/text.ts";
import type { Agent } from "../../agents/agent.ts";
import { type Assignment, assignMatch, releaseMatches } from "../../commands/matches.ts";
import { matchOf } from "../../league/evolve.ts";
import { currentMatches, type League, type Match } from "../../league/league.ts";
import type { OpenWork } from "../../league/open-work.ts";
import type { EffectsContext, Part } from "../part.ts";
import { FailedAttempts } from "./attempts.ts";
import type { Health } from "./health.ts";
import { occupiedCapacity, type Referees } from "./referees.ts";

/** Assigns the scheduled matches of opened rounds to referees, and takes them from referees that are down or not registered any more. */
export class Dispatch implements Part {
  readonly #context: EffectsContext;
  readonly #health: Health;
  readonly #referees: Referees;
  readonly #failed = new FailedAttempts();
  readonly #removeListener: () => void;
  /** Assignments that are not committed yet, by league and match. */
  readonly #pending = new Map<string, Assignment>();
  /** The commands that are under way, by league. */
  readonly #underWay = new Map<string, Set<Promise<void>>>();
  /** The reason in a league's last notice about waiting matches. */
  readonly #noticedReason = new Map<string, string>();

  constructor(context: EffectsContext, health: Health, referees: Referees) {
    this.#context = context;
    this.#health = health;
    this.#referees = referees;
    this.#removeListener = context.ledger.onCommit((commit) => this.#failed.onCommit(commit));
  }

  reconcile(league: League, work: OpenWork): void {
    const lost = [...work.assigned.values()].filter(({ refereeId }) => !this.#health.isUp(refereeId ?? ""));
    if (lost.length > 0) this.#release(league.leagueId, lost);
    if (work.unassigned.size > 0) this.#assignAll(league, work.unassigned.values());
    else this.#noticedReason.delete(league.leagueId);
  }

  /** Resolves when the commands that are under way for a league are answered. */
  async settled(leagueId: string): Promise<void> {
    await Promise.all(this.#underWay.get(leagueId) ?? []);
  }

  async stop(): Promise<void> {
    this.#removeListener();
    await Promise.all([...this.#underWay.values()].flatMap((commands) => [...commands]));
  }

  /** The free capacity of each referee that is up: how many more matches it can have. */
  freeCapacity(): Map<string, number> {
    const occupied = this.#occupied();
    return new Map(this.#referees.up().map(({ id, maxConcurrent }) => [id, maxConcurrent - (occupied.get(id) ?? 0)]));
  }

  /** The fit referees, except the given one, that are eligible for a match. */
  othersFor(league: League, match: Match, refereeId: string): readonly Agent[] {
    const occupied = this.#occupied();
    const others = this.#referees.up().filter((one) => one.id !== refereeId && this.#referees.isFit(one, occupied));
    return [...this.#referees.eligible(league, others)(match)];
  }

  #occupied(): Map<string, number> {
    const occupied = new Map<string, number>();
    const add = (refereeId: string, count: number): void =>
      void occupied.set(refereeId, (occupied.get(refereeId) ?? 0) + count);
    const { leagues } = this.#context.ledger.state;
    for (const league of leagues.values()) {
      for (const [refereeId, count] of occupiedCapacity(league)) add(refereeId, count);
    }
    for (const { leagueId, matchId, epoch, refereeId } of this.#pending.values()) {
      const league = leagues.get(leagueId);
      const match = league && matchOf(league, matchId);
      const isCommitted = match?.status !== "scheduled" || match.epoch !== epoch;
      if (!isCommitted) add(refereeId, 1);
    }
    return occupied;
  }

  /** The nth match of a round prefers the nth referee, so that the same league has the same assignments in each run. */
  #assignAll(league: League, unassigned: Iterable<Match>): void {
    const up = this.#referees.up();
    const occupied = this.#occupied();
    const hasCapacity = ({ id, maxConcurrent }: Agent): boolean => (occupied.get(id) ?? 0) < maxConcurrent;
    if (!up.some(hasCapacity)) return;
    const indexes = indexesOf(league);
    const eligibleFor = this.#referees.eligible(league, up);
    const without: Match[] = [];
    for (const match of unassigned) {
      if (this.#pending.has(matchRef(league.leagueId, match.matchId))) continue;
      if (!up.some(hasCapacity)) break;
      const eligible = eligibleFor(match);
      if (eligible.size === 0) without.push(match);
      if (![...eligible].some(hasCapacity)) continue;
      const first = (indexes.get(match.matchId) ?? 0) % up.length;
      const order = [...up.slice(first), ...up.slice(0, first)].filter((one) => eligible.has(one));
      const referee = this.#best(league, match, order, occupied).find(hasCapacity);
      if (!referee) continue;
      occupied.set(referee.id, (occupied.get(referee.id) ?? 0) + 1);
      this.#assign(league, match, referee);
    }
    this.#noticeWithoutReferee(league, without, up);
  }

  /** The preferred referees of a match. It is assigned to the first of them that has free capacity. */
  #best(
    { leagueId }: League,
    { matchId }: Match,
    eligible: readonly Agent[],
    occupied: ReadonlyMap<string, number>,
  ): readonly Agent[] {
    const fit = eligible.filter((one) => this.#referees.isFit(one, occupied));
    const untried = fit.filter(({ id }) => !this.#failed.has(leagueId, matchId, id));
    return [untried, fit].find((some) => some.length > 0) ?? eligible;
  }

  #assign({ leagueId }: League, { matchId, epoch }: Match, { id: refereeId }: Agent): void {
    const key = matchRef(leagueId, matchId);
    const assignment = { leagueId, matchId, epoch, refereeId };
    this.#pending.set(key, assignment);
    const assigning = this.#context.execute(leagueId, assignMatch(assignment)).finally(() => this.#pending.delete(key));
    this.#track(leagueId, assigning);
  }

  /** Repeated in each pass until it is committed: matches that are released already are left as they are. */
  #release(leagueId: string, lost: readonly Match[]): void {
    const { agents } = this.#context.ledger.state;
    const releases = lost.map(({ matchId, epoch, refereeId }) => {
      const detail = `referee ${refereeId} ${agents.has(refereeId ?? "") ? "does not answer" : "is not registered any more"}`;
      return { leagueId, matchId, epoch, reason: "unreachable", detail } as const;
    });
    this.#track(leagueId, this.#context.execute(leagueId, releaseMatches(releases)));
  }

  #track(leagueId: string, execution: Promise<void>): void {
    const commands = this.#underWay.get(leagueId) ?? new Set();
    this.#underWay.set(leagueId, commands);
    const command: Promise<void> = execution.finally(() => commands.delete(command));
    commands.add(command);
  }

  /** One notice for each league and reason, until the reason changes. */
  #noticeWithoutReferee({ leagueId, game }: League, without: readonly Match[], up: readonly Agent[]): void {
    const [first] = without;
    if (!first) return void this.#noticedReason.delete(leagueId);
    const isPlayed = up.some(({ gameTypes }) => gameTypes.includes(game));
    const reason = isPlayed
      ? "no referee that answers reaches its players; a player on this machine's loopback address is reached by referees on this machine"
      : `no referee that answers plays ${game}`;
    if (this.#noticedReason.get(leagueId) === reason) return;
    this.#noticedReason.set(leagueId, reason);
    const others = without.length > 1 ? ` (and ${counted(without.length - 1, "more match", "more matches")})` : "";
    this.#context.notice(`${leagueId} ${first.matchId}${others} waits: ${reason}`);
  }
}

/** The indexes of the current round's matches in their round, from 0. */
const indexesOf = (league: League): ReadonlyMap<string, number> =>
  new Map(currentMatches(league).map(({ matchId }, index) => [matchId, index]));
