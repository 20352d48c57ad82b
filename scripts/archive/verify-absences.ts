import { chainHash, GENESIS } from "#shared/lib/hash-chain.ts";
import { messageOf } from "#shared/lib/result.ts";
import { MAX_FAILS } from "#shared/protocol/lifecycle.ts";
import type { Agent, Profile } from "../../league-manager/agents/agent.ts";
import { AgentEvent } from "../../league-manager/agents/events.ts";
import { evolveAgent } from "../../league-manager/agents/evolve.ts";
import type { LeagueEvent } from "../../league-manager/league/events.ts";
import { SHUT_DOWN } from "../../league-manager/league/outcome.ts";
import { agentLogFile } from "./files.ts";
import type { LoggedRun } from "./format.ts";
import type { LeagueLog } from "./league-log.ts";
import { parseJson, readLines, type Source } from "./source.ts";

type Completion = Extract<LeagueEvent, { type: "match_completed" }>;
type Timeout = Extract<AgentEvent, { type: "timed_out" }>;

/** One event of an agent's log with the agent after it. */
interface AgentStep {
  readonly event: AgentEvent;
  readonly after: Agent | null;
}

/** A match that a referee has completed. */
type Completed = Completion & { readonly league_id: string };

/**
 * Checks why players were absent from rounds: a player is shut down by three timeouts in a row, each of which is a completed match with that
 * fault, or by the operator.
 */
export function checkAbsences(source: Source, run: LoggedRun, logs: readonly LeagueLog[]): void {
  const completed = completedMatchesOf(logs);
  const histories = new Map(run.agents.map((agent) => [agent.agent_id, readAgentLog(source, agent)]));
  for (const absence of logs.flatMap(absencesIn)) {
    const { playerId, version } = absence;
    const history = histories.get(playerId)?.slice(0, version) ?? [];
    const cause = history.length === version ? causeOf(history) : null;
    if (cause?.type === "timed_out") {
      const faults = timeoutFaults(playerId, history, completed.get(playerId) ?? []);
      for (const fault of faults) source.findings.blame(agentLogFile(playerId), fault);
    } else if (cause?.type === "removed") {
      source.findings.except(absence.file, `${absence.text}: the operator removed it`);
    } else {
      const why = "neither timeouts nor the operator had shut it down";
      source.findings.blame(absence.file, `${absence.text}, but ${why}`);
    }
  }
}

/** A player that was shut down when a round was opened. */
interface Absence {
  readonly playerId: string;
  /** The version of the player's log at which it was shut down. */
  readonly version: number;
  /** The file of the league's log. */
  readonly file: string;
  readonly text: string;
}

const absencesIn = ({ file, steps, league }: LeagueLog): readonly Absence[] =>
  steps.flatMap(({ event }) => {
    if (event.type !== "round_opened") return [];
    return event.absent.map(({ player_id, agent_version }) => ({
      playerId: player_id,
      version: agent_version,
      file,
      text: `${player_id} is absent from round ${event.round_id} of ${league?.leagueId}`,
    }));
  });

/** The matches that referees have completed, by player; those of one league are in the order of its log. */
function completedMatchesOf(logs: readonly LeagueLog[]): ReadonlyMap<string, readonly Completed[]> {
  const completed = new Map<string, Completed[]>();
  for (const { steps, league } of logs) {
    for (const { event } of steps) {
      if (event.type !== "match_completed" || event.reason === SHUT_DOWN || !league) continue;
      for (const playerId of Object.keys(event.match_points)) {
        const ofPlayer = completed.get(playerId) ?? [];
        ofPlayer.push({ ...event, league_id: league.leagueId });
        completed.set(playerId, ofPlayer);
      }
    }
  }
  return completed;
}

/** An agent without its profile, which is no part of its log. */
const UNKNOWN: Profile = { name: "", salt: "", endpoint: "", tokenHash: "" };

function readAgentLog(source: Source, { agent_id, log_head }: LoggedRun["agents"][number]): readonly AgentStep[] {
  const file = agentLogFile(agent_id);
  const lines = readLines(source, file);
  if (lines.reduce(chainHash, GENESIS) !== log_head)
    source.findings.blame(file, "its chain does not end in its log_head");
  const steps: AgentStep[] = [];
  for (const [index, line] of lines.entries()) {
    try {
      const event = AgentEvent.parse(parseJson(line));
      const before = steps.at(-1)?.after ?? null;
      steps.push({ event, after: evolveAgent(before, event, UNKNOWN, index + 1) });
      if (event.type === "registered" && event.agent_id !== agent_id) throw new Error(`registers ${event.agent_id}`);
    } catch (thrown) {
      source.findings.blame(file, `event ${index}: ${messageOf(thrown)}`);
      return [];
    }
  }
  return steps;
}

/** The event that shut an agent down; null if the agent is not shut down at the end of its history. */
function causeOf(history: readonly AgentStep[]): AgentEvent | null {
  const isShutDown = (step: AgentStep | undefined): boolean => step?.after?.state === "SHUTDOWN";
  if (!isShutDown(history.at(-1))) return null;
  return history.findLast((_, index) => !isShutDown(history[index - 1]))?.event ?? null;
}

/** What does not hold of the last timeouts of a history, which shut the player down. */
function timeoutFaults(
  playerId: string,
  history: readonly AgentStep[],
  completed: readonly Completed[],
): readonly string[] {
  const timeouts = history.flatMap(({ event }) => (event.type === "timed_out" ? [event] : [])).slice(-MAX_FAILS);
  const counted = new Set(timeouts.map(nameOf));
  const lost = new Set(completed.filter((match) => hasTimedOut(match, playerId)).map(nameOf));
  const unfounded = [...counted].filter((name) => !lost.has(name));
  const others = [...Map.groupBy(completed, (match) => match.league_id).values()].flatMap((ofLeague) => {
    const isCounted = (match: Completed): boolean => counted.has(nameOf(match));
    const between = ofLeague.slice(ofLeague.findIndex(isCounted), ofLeague.findLastIndex(isCounted) + 1);
    return between.filter((match) => !isCounted(match));
  });
  return [
    ...unfounded.map((name) => `${name} is no match that it lost because it did not answer`),
    ...others.map((match) => `${nameOf(match)}, which it finished, lies between its timeouts`),
  ];
}

const nameOf = ({ league_id, match_id, epoch }: Pick<Timeout, "league_id" | "match_id" | "epoch">): string =>
  `${league_id}/${match_id} under epoch ${epoch}`;

const hasTimedOut = ({ faults }: Completed, playerId: string): boolean =>
  faults.some(({ player_id, code }) => player_id === playerId && code === "G002");
