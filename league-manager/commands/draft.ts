import { err, invariant, ok, type Result } from "#shared/lib/result.ts";
import { type ProtocolError, protocolError } from "#shared/protocol/errors.ts";
import type { Agent, Profile } from "../agents/agent.ts";
import { type AgentCommand, decideAgent } from "../agents/decide.ts";
import { FORMAT_VERSION as AGENT_FORMAT, type AgentEvent } from "../agents/events.ts";
import { evolveAgent } from "../agents/evolve.ts";
import type { LeagueCommand, NewLeagueEvent } from "../league/commands.ts";
import { decideLeague } from "../league/decide.ts";
import { FORMAT_VERSION as LEAGUE_FORMAT, type LeagueEvent } from "../league/events.ts";
import { evolveLeague } from "../league/evolve.ts";
import type { League } from "../league/league.ts";
import type { Decision, ManagerState, Write } from "../ledger.ts";

/**
 * A decision in progress: commands to leagues and agents are decided one after the other, each on the state that the earlier ones lead to.
 * A draft belongs to one call of a `Decide` function and is dropped when a command is rejected.
 */
export class Draft {
  readonly #at: string;
  readonly #before: ManagerState;
  readonly #leagues: Map<string, League>;
  readonly #agents: Map<string, Agent>;
  /** Events by league that are not in `#leagues` yet: most commands need no state after them, and the start of a large league has many. */
  readonly #unfolded = new Map<string, readonly NewLeagueEvent[]>();
  readonly #leagueEvents: NonNullable<Decision<null>["leagueEvents"]>[number][] = [];
  readonly #agentEvents: NonNullable<Decision<null>["agentEvents"]>[number][] = [];
  readonly #writes: Write[] = [];

  constructor(state: ManagerState, at: string) {
    this.#before = state;
    this.#leagues = new Map(state.leagues);
    this.#agents = new Map(state.agents);
    this.#at = at;
  }

  /** The state with the events so far. */
  get state(): ManagerState {
    for (const leagueId of this.#unfolded.keys()) this.#leagueOf(leagueId);
    return { ...this.#before, leagues: this.#leagues, agents: this.#agents };
  }

  /** Gives a command to a league. Returns its events if the league accepts. */
  league(leagueId: string, command: LeagueCommand): Result<readonly NewLeagueEvent[], ProtocolError> {
    const league = this.#leagueOf(leagueId);
    if (!league && command.type !== "open") return err(noLeague(leagueId));
    const decided = decideLeague(league, command);
    if (decided.ok) this.append(leagueId, decided.value);
    return decided;
  }

  /** Gives a league a command that it accepts in its state: a rejection is a bug. */
  mustLeague(leagueId: string, command: LeagueCommand): void {
    const given = this.league(leagueId, command);
    invariant(given.ok, `${command.type} in ${leagueId} is accepted`);
  }

  /** Appends events that were decided on the league as it is in `state`. */
  append(leagueId: string, events: readonly NewLeagueEvent[]): void {
    for (const event of events) this.#leagueEvents.push({ leagueId, event });
    this.#unfolded.set(leagueId, [...(this.#unfolded.get(leagueId) ?? []), ...events]);
  }

  #leagueOf(leagueId: string): League | null {
    let league = this.#leagues.get(leagueId) ?? null;
    for (const event of this.#unfolded.get(leagueId) ?? []) {
      league = evolveLeague(league, { ...event, v: LEAGUE_FORMAT, at: this.#at } as LeagueEvent);
    }
    this.#unfolded.delete(leagueId);
    if (league) this.#leagues.set(leagueId, league);
    return league;
  }

  /**
   * Gives a command to an agent. The caller has checked whether the agent is registered: a rejection is a bug. `profile` is written if the
   * command has events; a forgotten agent's profile is erased.
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
      agent = evolveAgent(agent, { ...event, v: AGENT_FORMAT, at: this.#at } as AgentEvent, row);
    }
    if (profile) this.write({ type: "profile", agentId, profile });
    if (agent) this.#agents.set(agentId, agent);
    else {
      this.#agents.delete(agentId);
      this.write({ type: "erase_profile", agentId });
    }
  }

  write(write: Write): void {
    this.#writes.push(write);
  }

  decision<Reply>(reply: Reply): { ok: true; value: Decision<Reply> } {
    return ok({ leagueEvents: this.#leagueEvents, agentEvents: this.#agentEvents, writes: this.#writes, reply });
  }
}

export const noLeague = (league_id: string): ProtocolError =>
  protocolError("L005", `no league ${league_id}`, { league_id });
