import { err, invariant, ok, type Result } from "#shared/lib/result.ts";
import type { ProtocolError } from "#shared/protocol/errors.ts";
import {
  AGENT_FORMAT_VERSION,
  type Agent,
  type AgentCommand,
  type AgentEvent,
  decideAgent,
  evolveAgent,
  type Profile,
} from "../agents/registered-agent.ts";
import { decideLeague, noLeague } from "../league/decide.ts";
import { LEAGUE_FORMAT_VERSION, type LeagueEvent } from "../league/events.ts";
import { evolveLeague } from "../league/evolve.ts";
import type { League, LeagueCommand, NewLeagueEvent } from "../league/league.ts";
import type { Decision, ManagerState, Write } from "../ledger.ts";

/**
 * A decision in progress. It decides commands to leagues and agents one after the other, each on the state after the earlier commands. A draft
 * belongs to one call of a `Decide` function and is discarded when a command is rejected.
 */
export class Draft {
  readonly #at: string;
  readonly #before: ManagerState;
  readonly #leagues: Map<string, League>;
  readonly #agents: Map<string, Agent>;
  /** Events that are not applied to `#leagues` yet, by league id. Most decisions never need the state after them. */
  readonly #unapplied = new Map<string, readonly NewLeagueEvent[]>();
  readonly #leagueEvents: NonNullable<Decision<null>["leagueEvents"]>[number][] = [];
  readonly #agentEvents: NonNullable<Decision<null>["agentEvents"]>[number][] = [];
  readonly #writes: Write[] = [];

  constructor(state: ManagerState, at: string) {
    this.#before = state;
    this.#leagues = new Map(state.leagues);
    this.#agents = new Map(state.agents);
    this.#at = at;
  }

  /** The state after the events so far. */
  get state(): ManagerState {
    for (const leagueId of this.#unapplied.keys()) this.#leagueOf(leagueId);
    return { ...this.#before, leagues: this.#leagues, agents: this.#agents };
  }

  /** Decides a command to a league and appends its events. Returns them, or the rejection. */
  league(leagueId: string, command: LeagueCommand): Result<readonly NewLeagueEvent[], ProtocolError> {
    const league = this.#leagueOf(leagueId);
    if (!league && command.type !== "open") return err(noLeague(leagueId, this.state.leagues.values()));
    const decided = decideLeague(league, command);
    if (decided.ok) this.append(leagueId, decided.value);
    return decided;
  }

  /** Decides a command that the league must accept in its state. A rejection is a bug and throws. */
  mustLeague(leagueId: string, command: LeagueCommand): void {
    const decided = this.league(leagueId, command);
    invariant(decided.ok, `${command.type} in ${leagueId} is accepted`);
  }

  /** Appends events that were decided on the current `state`. */
  append(leagueId: string, events: readonly NewLeagueEvent[]): void {
    for (const event of events) this.#leagueEvents.push({ leagueId, event });
    this.#unapplied.set(leagueId, [...(this.#unapplied.get(leagueId) ?? []), ...events]);
  }

  #leagueOf(leagueId: string): League | null {
    let league = this.#leagues.get(leagueId) ?? null;
    for (const event of this.#unapplied.get(leagueId) ?? []) {
      league = evolveLeague(league, { ...event, v: LEAGUE_FORMAT_VERSION, at: this.#at } as LeagueEvent);
    }
    this.#unapplied.delete(leagueId);
    if (league) this.#leagues.set(leagueId, league);
    return league;
  }

  /**
   * Decides a command that the agent must accept: a rejection is a bug and throws. If the command has events, `profile` is written. The profile of a
   * forgotten or erased agent is deleted.
   */
  agent(agentId: string, command: AgentCommand, profile?: Profile): void {
    let agent = this.#agents.get(agentId) ?? null;
    const decided = decideAgent(agent, command);
    invariant(decided.ok, `${command.type} of ${agentId} is accepted`);
    if (decided.value.length === 0) return;
    const row = profile ?? agent;
    invariant(row, `${agentId} is registered with its profile`);
    for (const event of decided.value) {
      this.#agentEvents.push({ agentId, event });
      agent = evolveAgent(agent, { ...event, v: AGENT_FORMAT_VERSION, at: this.#at } as AgentEvent, row);
    }
    if (profile) this.write({ type: "profile", agentId, profile });
    if (agent) this.#agents.set(agentId, agent);
    else this.#agents.delete(agentId);
    if (!agent || command.type === "erase") this.write({ type: "erase_profile", agentId });
  }

  write(row: Write): void {
    this.#writes.push(row);
  }

  decision<Reply>(reply: Reply): { ok: true; value: Decision<Reply> } {
    return ok({ leagueEvents: this.#leagueEvents, agentEvents: this.#agentEvents, writes: this.#writes, reply });
  }
}
