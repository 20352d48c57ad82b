import { messageOf } from "#shared/lib/result.ts";
import { inOneLine } from "#shared/lib/text.ts";
import type { RecordedEvent } from "#shared/store/event-log.ts";
import { UnusableEvent } from "#shared/store/store-errors.ts";
import { agentStream, parseAgentEvent } from "../agents/events.ts";
import { leagueStream, parseLeagueEvent } from "../league/events.ts";
import type { Commit, CommittedEvent, ManagerState, Write } from "../ledger.ts";
import { evolveState } from "../store/manager-state.ts";
import type { LaterCommits } from "./run-database.ts";

const LEAGUE_PREFIX = leagueStream("");
const AGENT_PREFIX = agentStream("");

/** The state of the run at a manager. */
export interface KnownRun {
  /** The number of the last commit whose events are in the state. */
  number: number;
  /** The date of the newest event that this manager has made or read since its start, ISO 8601 in UTC; empty without one. */
  at: string;
  state: ManagerState;
  /** Versions by stream, including those of leagues that the config does not name. */
  readonly versions: Map<string, number>;
}

/** Thrown if the database has fewer commits than the manager knows: it has been restored from a backup. */
class LostCommits extends Error {
  constructor(number: number, known: number) {
    super(
      `the database has ${number} commits, and this manager knows ${known}: after the database is restored from a backup, start all managers again`,
    );
    this.name = "LostCommits";
  }
}

/**
 * Adds the later commits to what a manager knows. Returns the change as one commit, or null without a change. Events that are known already are
 * skipped, because the state can be loaded while other managers commit. Throws `UnusableEvent` or `LostCommits`; `known` is then unchanged.
 */
export function addCommits(known: KnownRun, later: LaterCommits, leagueIds: readonly string[]): Commit | null {
  if (later.number < known.number) throw new LostCommits(later.number, known.number);
  const versions = new Map<string, number>();
  const events: CommittedEvent[] = [];
  const recorded: RecordedEvent[] = [];
  for (const one of later.events) {
    const { stream, seq } = one;
    const version = versions.get(stream) ?? known.versions.get(stream) ?? 0;
    if (seq < version) continue;
    if (seq > version) throw unusable(one, `the stream has ${version} events before it`);
    versions.set(stream, seq + 1);
    const committed = committedOf(one, leagueIds);
    if (!committed) continue;
    events.push(committed);
    recorded.push(one);
  }
  const writes = [...later.profiles].map(
    ([agentId, profile]): Write =>
      profile ? { type: "profile", agentId, profile } : { type: "erase_profile", agentId },
  );
  const { state: before } = known;
  const state = evolved(before, events, recorded, writes, leagueIds);
  for (const [stream, version] of versions) known.versions.set(stream, version);
  known.number = later.number;
  known.at = events.reduce((latest, { event: { at } }) => (at > latest ? at : latest), known.at);
  known.state = state;
  return events.length > 0 || writes.length > 0 ? { before, state, events } : null;
}

/** Parses an event. Returns null for a league that the config does not name. */
function committedOf(recorded: RecordedEvent, leagueIds: readonly string[]): CommittedEvent | null {
  const { stream, seq, body } = recorded;
  const version = seq + 1;
  try {
    if (stream.startsWith(AGENT_PREFIX)) {
      return { kind: "agent", agentId: stream.slice(AGENT_PREFIX.length), version, event: parseAgentEvent(body) };
    }
    const leagueId = stream.slice(LEAGUE_PREFIX.length);
    if (!stream.startsWith(LEAGUE_PREFIX) || !leagueIds.includes(leagueId)) return null;
    return { kind: "league", leagueId, version, event: parseLeagueEvent(body) };
  } catch (thrown) {
    throw unusable(recorded, inOneLine(messageOf(thrown)));
  }
}

function evolved(
  before: ManagerState,
  events: readonly CommittedEvent[],
  recorded: readonly RecordedEvent[],
  writes: readonly Write[],
  leagueIds: readonly string[],
): ManagerState {
  try {
    return evolveState(before, { events, writes }, leagueIds);
  } catch {
    // Apply the events one by one, to find the one that cannot follow.
    let state = before;
    for (const [index, committed] of events.entries()) {
      try {
        state = evolveState(state, { events: [committed], writes }, leagueIds);
      } catch (thrown) {
        throw unusable(recorded[index] as RecordedEvent, inOneLine(messageOf(thrown)));
      }
    }
    return state;
  }
}

const unusable = ({ stream, seq }: RecordedEvent, why: string): UnusableEvent =>
  new UnusableEvent(stream, seq, `${why}. Another manager has committed it: run the same version on all managers`);
