import { compareIds } from "#shared/lib/ids.ts";
import { inOneLine } from "#shared/lib/text.ts";
import { isOnLoopback, isOnThisMachine } from "#shared/protocol/addresses.ts";
import type { Agent } from "../../agents/agent.ts";
import { currentMatches, type League, type Match } from "../../league/league.ts";
import type { EffectsContext } from "../part.ts";
import type { Health } from "./health.ts";

/** After this time an unfit referee is offered one match, which decides whether it is fit again. */
const UNFIT_MS = 10_000;
const REASON_CHARACTERS = 200;

type Context = Pick<EffectsContext, "ledger" | "clock" | "machineAddresses" | "notice">;

/** The registered referees, and which of them can be given matches. */
export class Referees {
  readonly #context: Context;
  readonly #health: Pick<Health, "isUp">;
  /**
   * Referees that answer their probes and accept no match, e.g. because of a wrong endpoint: until this time they are offered no match while
   * there are other referees. Kept in memory only: after a restart an unfit referee is offered a match, rejects it and is unfit again.
   */
  readonly #unfitUntil = new Map<string, number>();
  readonly #removeListener: () => void;

  constructor(context: Context, health: Pick<Health, "isUp">) {
    this.#context = context;
    this.#health = health;
    this.#removeListener = context.ledger.onCommit(({ events }) => {
      for (const one of events) {
        if (one.kind === "agent" && one.event.type === "forgotten") this.markFit(one.agentId);
      }
    });
  }

  stop(): void {
    this.#removeListener();
  }

  /** Referees that answer their probes, in the order of their ids. */
  up(): readonly Agent[] {
    return [...this.#context.ledger.state.agents.values()]
      .filter(({ kind, id }) => kind === "referee" && this.#health.isUp(id))
      .sort((a, b) => compareIds(a.id, b.id));
  }

  /** Whether a referee is offered matches although there are others. An unfit one is offered one match when its time is over. */
  isFit({ id }: Agent, occupied: ReadonlyMap<string, number>): boolean {
    if (!this.#health.isUp(id)) return false;
    const until = this.#unfitUntil.get(id);
    return until === undefined || (this.#context.clock.monotonic() >= until && (occupied.get(id) ?? 0) === 0);
  }

  /**
   * The eligible referees for a match of the league: those that play its game and can reach its players. The set is the same for all matches
   * with a player on loopback, which can be reached from this machine only, and the same for all other matches.
   */
  eligible({ game }: League, among: readonly Agent[]): (match: Match) => ReadonlySet<Agent> {
    const all = new Set(among.filter(({ gameTypes }) => gameTypes.includes(game)));
    const machineAddresses = this.#context.machineAddresses();
    let here: ReadonlySet<Agent> | null = null;
    return (match) => {
      if (!this.#hasPlayerOnLoopback(match)) return all;
      here ??= new Set([...all].filter(({ endpoint }) => isOnThisMachine(endpoint, machineAddresses)));
      return here;
    };
  }

  #hasPlayerOnLoopback({ players }: Match): boolean {
    const { agents } = this.#context.ledger.state;
    return players.some((id) => {
      const player = agents.get(id);
      return player !== undefined && isPlayerOnLoopback(player);
    });
  }

  /** The referee has accepted a match or has registered. */
  markFit(refereeId: string): void {
    this.#unfitUntil.delete(refereeId);
  }

  /** The referee answers and takes no match. */
  markUnfit(refereeId: string, why: string): void {
    const { clock, notice } = this.#context;
    if (!this.#unfitUntil.has(refereeId)) {
      const reason = inOneLine(why.slice(0, REASON_CHARACTERS));
      notice(`referee ${refereeId} takes no matches (${reason}); they go to another, if there is one`);
    }
    this.#unfitUntil.set(refereeId, clock.monotonic() + UNFIT_MS);
  }
}

/** An agent is never changed in place, so its endpoint is parsed once. */
function isPlayerOnLoopback(player: Agent): boolean {
  const known = onLoopback.get(player) ?? isOnLoopback(player.endpoint);
  onLoopback.set(player, known);
  return known;
}
const onLoopback = new WeakMap<Agent, boolean>();

/** How many matches of a league occupy each referee: the assigned ones, and withdrawn ones that the referee has not acknowledged. */
export function occupiedCapacity(league: League): ReadonlyMap<string, number> {
  const known = counted.get(league);
  if (known) return known;
  const occupied = new Map<string, number>();
  const add = (refereeId: string): void => void occupied.set(refereeId, (occupied.get(refereeId) ?? 0) + 1);
  for (const { status, refereeId } of currentMatches(league)) {
    if (status === "assigned" && refereeId !== null) add(refereeId);
  }
  for (const { refereeId } of league.withdrawals) add(refereeId);
  counted.set(league, occupied);
  return occupied;
}
/** A league is never changed in place, so its count is valid as long as the object. */
const counted = new WeakMap<League, ReadonlyMap<string, number>>();
