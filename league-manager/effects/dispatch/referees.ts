import { compareIds } from "#shared/lib/ids.ts";
import { inOneLine } from "#shared/lib/text.ts";
import { isOnLoopback, isOnThisMachine } from "#shared/protocol/addresses.ts";
import type { Agent } from "../../agents/agent.ts";
import type { League, Match } from "../../league/league.ts";
import type { EffectsContext } from "../effects-context.ts";
import type { Health } from "./health.ts";

/** The time after which an unfit referee is offered one match. It is fit again if it accepts it. */
const UNFIT_MS = 10_000;
const REASON_CHARACTERS = 200;

type RefereesContext = Pick<EffectsContext, "ledger" | "clock" | "machineAddresses" | "notice">;

/** Determines which registered referees can be assigned matches. */
export class Referees {
  readonly #context: RefereesContext;
  readonly #health: Pick<Health, "isUp">;
  /**
   * The monotonic time until which an unfit referee is offered no match while there are other referees, by referee id. An unfit referee answers
   * probes and accepts no match, e.g. because its endpoint is wrong. The times are in memory only: after a restart such a referee is offered a match
   * again.
   */
  readonly #unfitUntilMs = new Map<string, number>();
  readonly #removeListener: () => void;

  constructor(context: RefereesContext, health: Pick<Health, "isUp">) {
    this.#context = context;
    this.#health = health;
    this.#removeListener = context.ledger.onCommit(({ events }) => {
      for (const committed of events) {
        if (committed.kind === "agent" && committed.event.type === "forgotten") this.markFit(committed.agentId);
      }
    });
  }

  stop(): void {
    this.#removeListener();
  }

  /** The referees that answer their probes, in the order of their ids. */
  up(): readonly Agent[] {
    return this.registered()
      .filter(({ id }) => this.#health.isUp(id))
      .sort((a, b) => compareIds(a.id, b.id));
  }

  registered(): readonly Agent[] {
    return [...this.#context.ledger.state.agents.values()].filter(({ kind }) => kind === "referee");
  }

  /** Whether a referee is up and accepts matches. An unfit referee without a match is fit again after `UNFIT_MS`. */
  isFit({ id }: Agent, occupied: ReadonlyMap<string, number>): boolean {
    if (!this.#health.isUp(id)) return false;
    const untilMs = this.#unfitUntilMs.get(id);
    return untilMs === undefined || (this.#context.clock.monotonic() >= untilMs && (occupied.get(id) ?? 0) === 0);
  }

  /**
   * Returns a function that gives the eligible referees of a match of the league: those that play its game and can reach its players. All matches
   * with a player on loopback share one set, because only this machine can reach such players. All other matches share another set.
   */
  eligible({ game }: League, candidates: readonly Agent[]): (match: Match) => ReadonlySet<Agent> {
    const all = new Set(candidates.filter(({ gameTypes }) => gameTypes.includes(game)));
    const machineAddresses = this.#context.machineAddresses();
    let onThisMachine: ReadonlySet<Agent> | null = null;
    return (match) => {
      if (!this.#hasPlayerOnLoopback(match)) return all;
      onThisMachine ??= new Set([...all].filter(({ endpoint }) => isOnThisMachine(endpoint, machineAddresses)));
      return onThisMachine;
    };
  }

  #hasPlayerOnLoopback({ players }: Match): boolean {
    const { agents } = this.#context.ledger.state;
    return players.some((id) => {
      const player = agents.get(id);
      return player !== undefined && isPlayerOnLoopback(player);
    });
  }

  /** Records that a referee has accepted a match or has registered. */
  markFit(refereeId: string): void {
    this.#unfitUntilMs.delete(refereeId);
  }

  /** Records that a referee answers and accepts no match. Sends a notice if it was fit before. */
  markUnfit(refereeId: string, detail: string): void {
    const { clock, notice } = this.#context;
    if (!this.#unfitUntilMs.has(refereeId)) {
      const reason = inOneLine(detail.slice(0, REASON_CHARACTERS));
      notice(
        `referee ${refereeId} accepts no matches (${reason}); they are assigned to another referee if there is one`,
      );
    }
    this.#unfitUntilMs.set(refereeId, clock.monotonic() + UNFIT_MS);
  }
}

/** Whether a player is on loopback. An agent is never changed in place, so its endpoint is parsed once. */
function isPlayerOnLoopback(player: Agent): boolean {
  const isLocal = loopbackPlayers.get(player) ?? isOnLoopback(player.endpoint);
  loopbackPlayers.set(player, isLocal);
  return isLocal;
}
const loopbackPlayers = new WeakMap<Agent, boolean>();
