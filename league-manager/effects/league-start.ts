import type { Cancel } from "#shared/lib/clock.ts";
import {
  type Awaited,
  awaitedBy,
  hasReferee,
  missingPlayers,
  playersNeeded,
  reachable,
  type StartRule,
} from "../agents/awaited.ts";
import type { Place } from "../agents/places.ts";
import { startLeague } from "../commands/leagues.ts";
import type { League } from "../league/league.ts";
import type { EffectsContext, Part } from "./part.ts";
import { Tasks } from "./tasks.ts";

/** How long a complete roster waits for the other configured referees, so that each run assigns matches in the same way. */
const REFEREE_GRACE_MS = 3_000;

export interface LeagueStartOptions extends StartRule {
  /** What an open league waits for that starts by the number of its players: at first, and when it has changed. */
  readonly onWaiting: (leagueId: string, awaited: Awaited) => void;
  /** An open league cannot start, and no further player is expected. */
  readonly onStuck: (leagueId: string, why: string) => void;
}

/** Starts each open league whose players and referees are registered. */
export class LeagueStart implements Part {
  readonly #context: EffectsContext;
  readonly #options: LeagueStartOptions;
  readonly #referees: readonly Place[];
  readonly #tasks = new Tasks();
  /** Leagues that were reported as unable to start. */
  readonly #stuck = new Set<string>();
  /** The absent players in a league's last notice: a start that fails is repeated in each pass, its notice is not. */
  readonly #noticedAbsent = new Map<string, string>();
  /** What each league waits for, as it was last reported. */
  readonly #waiting = new Map<string, string>();
  readonly #timers: Cancel[] = [];
  #isWaitingOver = false;
  #isGraceOver: boolean | null = null;

  constructor(context: EffectsContext, options: LeagueStartOptions) {
    this.#context = context;
    this.#options = options;
    this.#referees = options.places.filter(({ kind }) => kind === "referee");
    const { clock, timeouts, wake } = context;
    const endWaiting = clock.after(timeouts.registration_ms, () => {
      this.#isWaitingOver = true;
      wake();
    });
    this.#timers.push(endWaiting);
  }

  reconcile(league: League): void {
    if (league.status !== "open") return;
    const { leagueId } = league;
    if (this.#isComplete(league)) this.#tasks.start(leagueId, () => this.#start(leagueId));
    else if (this.#options.startWhen === "roster") this.#reportStuck(league);
    else this.#reportWaiting(league);
  }

  stop(): Promise<void> {
    for (const cancel of this.#timers) cancel();
    return this.#tasks.stop();
  }

  async #start(leagueId: string): Promise<void> {
    const { notice, execute } = this.#context;
    const absent = this.#options.startWhen === "roster" ? namesOf(this.#missingPlayers()) : "";
    const noticed = this.#noticedAbsent.get(leagueId) ?? "";
    this.#noticedAbsent.set(leagueId, absent);
    if (absent !== "" && absent !== noticed) notice(`league ${leagueId} starts without ${absent}`);
    await execute(leagueId, startLeague(leagueId));
  }

  #isComplete(league: League): boolean {
    const { state } = this.#context.ledger;
    const entered = reachable(state, league);
    if (entered < league.roles.length || !hasReferee(state)) return false;
    const needed = playersNeeded(this.#options, league);
    if (needed === 0) return false;
    if (this.#options.startWhen === "count") return entered >= needed;
    return (this.#missingPlayers().length === 0 || this.#isWaitingOver) && this.#refereesAreIn();
  }

  #missingPlayers(): readonly Place[] {
    return missingPlayers(this.#context.ledger.state, this.#options.places);
  }

  #refereesAreIn(): boolean {
    const { ledger, clock, wake } = this.#context;
    if (this.#isGraceOver === true || this.#referees.every(({ id }) => ledger.state.agents.has(id))) return true;
    if (this.#isGraceOver === null) {
      this.#isGraceOver = false;
      const endGrace = clock.after(REFEREE_GRACE_MS, () => {
        this.#isGraceOver = true;
        wake();
      });
      this.#timers.push(endGrace);
    }
    return false;
  }

  #reportWaiting(league: League): void {
    const awaited = awaitedBy(this.#context.ledger.state, this.#options, league);
    const told = JSON.stringify(awaited);
    if (awaited === null || told === this.#waiting.get(league.leagueId)) return;
    this.#waiting.set(league.leagueId, told);
    this.#options.onWaiting(league.leagueId, awaited);
  }

  /** A league with enough players for a match is not stuck: it can lack only referees, which come back. */
  #reportStuck(league: League): void {
    const missing = this.#missingPlayers();
    if (missing.length > 0 && !this.#isWaitingOver) return;
    const entered = reachable(this.#context.ledger.state, league);
    if (entered >= league.roles.length || this.#stuck.has(league.leagueId)) return;
    this.#stuck.add(league.leagueId);
    const seconds = this.#context.timeouts.registration_ms / 1_000;
    const absent = `; ${namesOf(missing)} did not come within ${seconds} s (timeouts.registration_ms)`;
    const needed = league.roles.length === 2 ? "two" : league.roles.length;
    const why = `a league needs ${needed} players, and it has ${entered}${missing.length > 0 ? absent : ""}`;
    this.#options.onStuck(league.leagueId, why);
  }
}

const namesOf = (places: readonly Place[]): string => places.map(({ name }) => name).join(", ");
