import type { z } from "zod";
import { isIso } from "#shared/lib/clock.ts";
import { chainHash, GENESIS } from "#shared/lib/hash.ts";
import { messageOf } from "#shared/lib/result.ts";
import { type Agent, AgentEvent, evolveAgent, type Profile } from "../../../league-manager/agents/registered-agent.ts";
import { LeagueEvent } from "../../../league-manager/league/events.ts";
import { evolveLeague, matchOf } from "../../../league-manager/league/evolve.ts";
import type { League, Match } from "../../../league-manager/league/league.ts";
import { agentLogFile, type LoggedLeague, type LoggedRun, leagueLogFile, MAX_PLAYERS } from "../format.ts";
import { checkCourse } from "./event-course.ts";
import { parseJson, readLines, type Source } from "./source.ts";

/** The log of a league. The states between its events are not kept, because those of a large league need gigabytes. */
export interface LeagueLog {
  readonly file: string;
  /** The events; empty if an event does not follow from the events before it. */
  readonly events: readonly LeagueEvent[];
  /** The fold of all events; null if an event does not follow from the events before it. */
  readonly league: League | null;
  /** The annulled matches as they were before, by match id. */
  readonly annulled: ReadonlyMap<string, Match>;
}

/** Reads the log of a league. Blames the file if an event does not follow from the events before it or breaks the rules of `checkCourse`. */
export function readLeagueLog(source: Source, { league_id, log_head, seed }: LoggedLeague): LeagueLog {
  const file = leagueLogFile(league_id);
  const course = checkCourse(source.findings, file, seed);
  const events: LeagueEvent[] = [];
  const annulled = new Map<string, Match>();
  let league: League | null = null;
  const isSound = readLog(source, { file, schema: LeagueEvent, log_head }, (event) => {
    const after = evolveLeague(league, event);
    if (after.entrants.size > MAX_PLAYERS) throw new Error(`a league has at most ${MAX_PLAYERS} players`);
    course.step(league, event);
    events.push(event);
    const match = event.type === "match_annulled" && league ? matchOf(league, event.match_id) : null;
    if (match) annulled.set(match.matchId, match);
    league = after;
  });
  if (!isSound) return { file, events: [], league: null, annulled };
  course.end();
  return { file, events, league, annulled };
}

/** One event of an agent's log and the state of the agent after it. */
interface AgentStep {
  readonly event: AgentEvent;
  readonly after: Agent | null;
  /** The event that shut the agent down; null if the agent is not shut down. */
  readonly cause: AgentEvent | null;
}

/** The log of a player. `steps` is empty if an event does not follow from the events before it. The step at index `n` leads to version `n + 1`. */
export interface AgentLog {
  readonly file: string;
  readonly steps: readonly AgentStep[];
}

/** The profile is not part of an agent's log, and no check needs it. */
const NO_PROFILE: Profile = { name: "", salt: "", endpoint: "", tokenHash: "" };

/** Reads the log of a player. Blames the file if an event does not follow from the events before it. */
export function readAgentLog(source: Source, { agent_id, log_head }: LoggedRun["agents"][number]): AgentLog {
  const file = agentLogFile(agent_id);
  const steps: AgentStep[] = [];
  const isSound = readLog(source, { file, schema: AgentEvent, log_head }, (event, index) => {
    const before = steps.at(-1);
    const after = evolveAgent(before?.after ?? null, event, NO_PROFILE, index + 1);
    if (event.type === "registered" && event.agent_id !== agent_id) throw new Error(`registers ${event.agent_id}`);
    if (event.type === "registered" && event.kind !== "player") throw new Error(`registers a ${event.kind}`);
    steps.push({ event, after, cause: after?.state === "SHUTDOWN" ? (before?.cause ?? event) : null });
  });
  return { file, steps: isSound ? steps : [] };
}

/** A file of events: one line for each stored event. */
interface LogFile<T> {
  readonly file: string;
  /** The schema of the events. */
  readonly schema: z.ZodType<T>;
  /** The expected hash of the last event. */
  readonly log_head: string;
}

/**
 * Reads the log of a league or an agent, and checks its hash chain and the form and time of each event. Calls `follow` with each event; `follow` throws
 * if the event does not follow from the events before it. Returns whether `follow` accepted every event.
 */
function readLog<T extends { readonly at: string }>(
  source: Source,
  { file, schema, log_head }: LogFile<T>,
  follow: (event: T, index: number) => void,
): boolean {
  const { findings } = source;
  const lines = readLines(source, file);
  if (lines.reduce(chainHash, GENESIS) !== log_head)
    findings.blame(
      file,
      "the hash of its last event is not the log_head in league.json: an event was changed, added or removed",
    );
  /** The flaws that have been reported. Each is reported only for its first event, because later events often have the same flaw. */
  const reported = new Set<string>();
  for (const [index, line] of lines.entries()) {
    try {
      const event = schema.parse(parseJson(line));
      for (const flaw of flawsOf(line, event)) {
        if (!reported.has(flaw)) findings.blame(file, `event ${index} ${flaw}`);
        reported.add(flaw);
      }
      follow(event, index);
    } catch (thrown) {
      findings.blame(file, `event ${index}: ${messageOf(thrown)}`);
      return false;
    }
  }
  if (lines.length === 0) findings.blame(file, "has no events");
  return true;
}

/** Returns the flaws of an event's form. The manager stores events in the form of the schema's output, so that equal events have equal hashes. */
function flawsOf(line: string, event: { readonly at: string }): readonly string[] {
  const flaws: string[] = [];
  if (JSON.stringify(event) !== line) flaws.push("does not have the form in which the manager writes it");
  if (!isIso(event.at)) flaws.push("has no time of the form 2026-01-31T12:00:00.000Z");
  return flaws;
}
