import type { Cancel } from "#shared/lib/clock.ts";
import {
  type Awaited,
  awaitedBy,
  hasReferee,
  missingPlayers,
  playersNeeded,
  reachableCount,
  type StartRule,
} from "../agents/awaited-players.ts";
import type { Place } from "../agents/places.ts";
import { startLeague } from "../commands/league-commands.ts";
import type { League } from "../league/league.ts";
import { type EffectsContext, type Part, Tasks } from "./effects-context.ts";

/** The time for which a complete roster waits for the other referees of the config, so that each run assigns matches in the same way. */
const REFEREE_GRACE_MS = 3_000;

export interface LeagueStartOptions extends StartRule {
  /** Called with the players and referees that an open league waits for, and after each change, if the league starts by the number of its players. */
  readonly onWaiting: (leagueId: string, awaited: Awaited) => void;
  /** Called once for an open league that cannot start because no further player is expected. */
  readonly onStuck: (leagueId: string, reason: string) => void;
}

/** Starts each open league whose players and referees are registered. */
export class LeagueStart implements Part {
  readonly duty = "league";
  readonly #context: EffectsContext;
  readonly #options: LeagueStartOptions;
  readonly #referees: readonly Place[];
  readonly #tasks = new Tasks();
  /** Leagues that were reported as unable to start. */
  readonly #stuck = new Set<string>();
  /** The absent players in the last notice about each league. A start that fails is repeated in each pass without another notice. */
  readonly #noticedAbsent = new Map<string, string>();
  /** The last report of what each league waits for, as JSON. */
  readonly #reportedWaiting = new Map<string, string>();
  readonly #timers: Cancel[] = [];
  #isRegistrationOver = false;
  /** null before the wait for other referees begins. */
  #isGraceOver: boolean | null = null;

  constructor(context: EffectsContext, options: LeagueStartOptions) {
    this.#context = context;
    this.#options = options;
    this.#referees = options.places.filter(({ kind }) => kind === "referee");
    const { clock, timeouts, wake } = context;
    const cancelRegistrationTimer = clock.after(timeouts.registration_ms, () => {
      this.#isRegistrationOver = true;
      wake();
    });
    this.#timers.push(cancelRegistrationTimer);
  }

  reconcile(league: League): void {
    if (league.status !== "open") return;
    const { leagueId } = league;
    if (this.#canStart(league)) this.#tasks.start(leagueId, () => this.#start(leagueId));
    else if (this.#options.startWhen === "roster") this.#reportStuck(league);
    else this.#reportWaiting(league);
  }

  stop(): Promise<void> {
    for (const cancel of this.#timers) cancel();
    return this.#tasks.stop();
  }

  async #start(leagueId: string): Promise<void> {
    const { notice, execute, leagueSeedOf } = this.#context;
    const absent = this.#options.startWhen === "roster" ? namesOf(this.#missingPlayers()) : "";
    const noticedAbsent = this.#noticedAbsent.get(leagueId) ?? "";
    this.#noticedAbsent.set(leagueId, absent);
    if (absent !== "" && absent !== noticedAbsent) notice(`league ${leagueId} starts without ${absent}`);
    await execute(leagueId, startLeague(leagueId, leagueSeedOf(leagueId)));
  }

  #canStart(league: League): boolean {
    const { clock, ledger } = this.#context;
    const { state } = ledger;
    const entered = reachableCount(state, league);
    if (entered < league.roles.length || !hasReferee(state)) return false;
    if (league.startsAt !== null && clock.now() < Date.parse(league.startsAt)) return false;
    const needed = playersNeeded(this.#options, league);
    // Without a number of players, the operator starts the league, or it starts at its time.
    if (needed === 0) return league.startsAt !== null;
    if (this.#options.startWhen === "count") return entered >= needed;
    return (this.#missingPlayers().length === 0 || this.#isRegistrationOver) && this.#isRefereeWaitOver();
  }

  #missingPlayers(): readonly Place[] {
    return missingPlayers(this.#context.ledger.state, this.#options.places);
  }

  /** Whether all referees of the config are registered or the time for them is over. The first call starts that time. */
  #isRefereeWaitOver(): boolean {
    const { ledger, clock, wake } = this.#context;
    if (this.#isGraceOver === true || this.#referees.every(({ id }) => ledger.state.agents.has(id))) return true;
    if (this.#isGraceOver === null) {
      this.#isGraceOver = false;
      const cancelGraceTimer = clock.after(REFEREE_GRACE_MS, () => {
        this.#isGraceOver = true;
        wake();
      });
      this.#timers.push(cancelGraceTimer);
    }
    return false;
  }

  #reportWaiting(league: League): void {
    const awaited = awaitedBy(this.#context.ledger.state, this.#options, league);
    // With other players the count is reported again, also if it is the same: one player may have replaced another.
    const report = JSON.stringify([awaited, [...league.entrants.keys()]]);
    if (awaited === null || report === this.#reportedWaiting.get(league.leagueId)) return;
    this.#reportedWaiting.set(league.leagueId, report);
    this.#options.onWaiting(league.leagueId, awaited);
  }

  /** Reports a league that has too few players for a match after the registration time. A league that waits only for referees is not stuck. */
  #reportStuck(league: League): void {
    const missing = this.#missingPlayers();
    if (missing.length > 0 && !this.#isRegistrationOver) return;
    const entered = reachableCount(this.#context.ledger.state, league);
    if (entered >= league.roles.length || this.#stuck.has(league.leagueId)) return;
    this.#stuck.add(league.leagueId);
    const seconds = this.#context.timeouts.registration_ms / 1_000;
    const absent = `; ${namesOf(missing)} did not register within ${seconds} s (timeouts.registration_ms)`;
    const needed = league.roles.length === 2 ? "two" : league.roles.length;
    const reason = `a league needs ${needed} players, and it has ${entered}${missing.length > 0 ? absent : ""}`;
    this.#options.onStuck(league.leagueId, reason);
  }
}

const namesOf = (places: readonly Place[]): string => places.map(({ name }) => name).join(", ");
