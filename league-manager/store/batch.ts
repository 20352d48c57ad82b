import type { NewEvent, StreamAppend } from "#shared/store/event-log.ts";
import type { Statement } from "#shared/store/group-commit.ts";
import { FORMAT_VERSION as AGENT_FORMAT, AgentEvent, agentStream } from "../agents/events.ts";
import { FORMAT_VERSION as LEAGUE_FORMAT, LeagueEvent, leagueStream } from "../league/events.ts";
import type { CommittedEvent, Decision, ManagerState } from "../ledger.ts";
import { evolveState } from "./manager-state.ts";
import type { ManagerStore } from "./manager-store.ts";

/** The uncommitted results of the commands of one batch. */
export interface Batch {
  state: ManagerState;
  readonly events: CommittedEvent[];
  readonly appends: Map<string, StreamAppend & { readonly events: NewEvent[] }>;
  readonly statements: Statement[];
}

interface BatchContext {
  readonly store: ManagerStore;
  readonly leagueIds: readonly string[];
  /** The committed version of each stream. */
  readonly versions: ReadonlyMap<string, number>;
}

export const newBatch = (state: ManagerState): Batch => ({ state, events: [], appends: new Map(), statements: [] });

/** Adds a decision to a batch. An event that cannot follow throws, and then the batch is as it was. */
export function addDecision(batch: Batch, decision: Decision<unknown>, at: string, context: BatchContext): void {
  const { writes = [] } = decision;
  const versions = new Map<string, number>();
  const nextVersion = (stream: string): number => {
    const { expectedVersion = context.versions.get(stream) ?? 0, events = [] } = batch.appends.get(stream) ?? {};
    const version = (versions.get(stream) ?? expectedVersion + events.length) + 1;
    versions.set(stream, version);
    return version;
  };
  const added = recordedOf(decision, at, nextVersion);
  const state = evolveState(
    batch.state,
    { events: added.map(({ committed }) => committed), writes },
    context.leagueIds,
  );
  // Nothing throws from here on.
  batch.state = state;
  for (const { stream, body, committed } of added) {
    const append = batch.appends.get(stream) ?? { stream, expectedVersion: committed.version - 1, events: [] };
    append.events.push({ type: committed.event.type, body });
    batch.appends.set(stream, append);
    batch.events.push(committed);
  }
  for (const write of writes) batch.statements.push(...context.store.writing(write, at));
}

interface Added {
  readonly stream: string;
  readonly body: string;
  readonly committed: CommittedEvent;
}

/** The events as they are read from the log later. An event that could not be read throws: the next start would fail. */
function recordedOf(
  { leagueEvents = [], agentEvents = [] }: Decision<unknown>,
  at: string,
  nextVersion: (stream: string) => number,
): Added[] {
  const ofLeagues = leagueEvents.map(({ leagueId, event }): Added => {
    const stream = leagueStream(leagueId);
    const checked = LeagueEvent.parse({ v: LEAGUE_FORMAT, at, ...event });
    const committed = { kind: "league", leagueId, version: nextVersion(stream), event: checked } as const;
    return { stream, body: JSON.stringify(checked), committed };
  });
  const ofAgents = agentEvents.map(({ agentId, event }): Added => {
    const stream = agentStream(agentId);
    const checked = AgentEvent.parse({ v: AGENT_FORMAT, at, ...event });
    const committed = { kind: "agent", agentId, version: nextVersion(stream), event: checked } as const;
    return { stream, body: JSON.stringify(checked), committed };
  });
  return [...ofLeagues, ...ofAgents];
}
