import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findGame } from "#shared/games/registry.ts";
import { chainHash, GENESIS } from "#shared/lib/hash.ts";
import { createTally } from "#shared/standings/standings.ts";
import { AgentEvent } from "../../../league-manager/agents/registered-agent.ts";
import { LeagueEvent } from "../../../league-manager/league/events.ts";
import { forfeitOf, SHUT_DOWN } from "../../../league-manager/league/outcome.ts";
import {
  agentLogFile,
  canonical,
  leagueLogFile,
  linesOf,
  MANIFEST,
  manifestOf,
  matchFile,
  RUN_FILE,
  SIGNATURE,
} from "../format.ts";
import { filesIn } from "./exports.ts";

// biome-ignore lint/suspicious/noExplicitAny: forged files may have any content
export type Json = any;

/** The content of an export whose first league a test changes. */
export interface Forgery {
  readonly run: Json;
  readonly league: Json;
  /** The events of the league. */
  readonly events: Json[];
  /** The events of each player, by player id. */
  readonly agents: Readonly<Record<string, Json[]>>;
  /** The matches of the league, by match id. The file of a deleted match is deleted. */
  readonly matches: Record<string, Json>;
}

const read = (folder: string, file: string): string => readFileSync(join(folder, file), "utf8");
const eventsIn = (folder: string, file: string): Json[] =>
  read(folder, file)
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));

/** Changes the first league of an export, and makes the chains, the standings and the manifest consistent with the change. */
export function forgeRun(folder: string, change: (forgery: Forgery) => void): void {
  const run = JSON.parse(read(folder, RUN_FILE));
  const league = run.leagues[0];
  const id = league.league_id;
  const matches = Object.fromEntries(
    league.matches.map((matchId: string) => [matchId, JSON.parse(read(folder, matchFile(id, matchId)))]),
  );
  const agents = Object.fromEntries(
    run.agents.map(({ agent_id }: Json) => [agent_id, eventsIn(folder, agentLogFile(agent_id))]),
  );
  const forgery = { run, league, events: eventsIn(folder, leagueLogFile(id)), agents, matches };
  const files = Object.keys(matches).map((matchId) => matchFile(id, matchId));
  change(forgery);
  for (const file of files) rmSync(join(folder, file));
  for (const [matchId, match] of Object.entries(matches))
    writeFileSync(join(folder, matchFile(id, matchId)), canonical(match));
  league.log_head = writeLog(folder, leagueLogFile(id), forgery.events);
  for (const agent of run.agents) {
    agent.log_head = writeLog(folder, agentLogFile(agent.agent_id), agents[agent.agent_id] as Json[]);
  }
  const players = league.players.map(({ player_id, display_name }: Json) => ({ player_id, display_name }));
  const tally = createTally();
  for (const matchId of league.matches) {
    const match = matches[matchId];
    if (match) tally.add({ ...match, points: match.match_points });
  }
  const opened = forgery.events.flatMap(({ type, round_id }) => (type === "round_opened" ? [round_id] : []));
  for (const { type, round_id, byes } of forgery.events) {
    if (type === "round_paired" && opened.includes(round_id)) tally.addByes(byes);
  }
  league.standings = tally.standings(players);
  writeFileSync(join(folder, RUN_FILE), canonical(run));
  rewriteManifest(folder);
}

/** Returns the first event of a type in the log of the league; of the given match, if there is one. */
export const eventOf = ({ events }: Forgery, type: string, matchId?: string): Json =>
  events.find((event) => event.type === type && (matchId === undefined || event.match_id === matchId));
/** Returns the index of the event that `eventOf` returns. */
export const indexOf = (forgery: Forgery, type: string, matchId?: string): number =>
  forgery.events.indexOf(eventOf(forgery, type, matchId));

/** Returns the events of a player's log. */
export const playerEvents = ({ agents }: Forgery, playerId: string): Json[] => agents[playerId] ?? [];

/** Returns the first `timed_out` event of a player. */
export const firstTimeoutOf = (forgery: Forgery, playerId: string): Json =>
  playerEvents(forgery, playerId).find(({ type }) => type === "timed_out");

/** Returns the result of a match that a player forfeits because it is shut down. */
function forfeitedResult({ league, matches }: Forgery, matchId: string, playerId: string): object {
  const { game } = league;
  const roles = findGame(game)?.roles ?? [];
  const players: string[] = Object.values(matches[matchId].roles);
  return {
    ...forfeitOf({ game, roles }, players, [playerId], () => "the player is shut down"),
    termination: "forfeit",
    reason: SHUT_DOWN,
    log_head: "",
  };
}

/** Makes R1M1 a forfeit of P03 without a session log, in its file and in the log of the league. */
export function forfeitR1M1(forgery: Forgery): void {
  const result = forfeitedResult(forgery, "R1M1", "P03");
  Object.assign(forgery.matches.R1M1, result, { log: [] });
  Object.assign(eventOf(forgery, "match_completed", "R1M1"), result);
}

/** Makes a match that was played a forfeit of a player that is shut down at the given version of its log. */
export function forfeitMatch(forgery: Forgery, matchId: string, playerId: string, version: number): void {
  const { events, matches } = forgery;
  const match = matches[matchId];
  const summary = forfeitedResult(forgery, matchId, playerId);
  Object.assign(match, summary, { referee_id: null, log: [] });
  const otherEvents = events.filter(({ match_id }) => match_id !== matchId);
  const openedAt = otherEvents.findIndex(
    ({ type, round_id }) => type === "round_opened" && round_id === match.round_id,
  );
  const { v, at, absent } = otherEvents[openedAt];
  absent.push({ player_id: playerId, agent_version: version });
  const matchFields = { match_id: matchId, epoch: match.epoch, referee_id: null };
  otherEvents.splice(openedAt + 1, 0, { v, at, type: "match_completed", ...matchFields, ...summary });
  events.splice(0, events.length, ...otherEvents);
}

/** Changes the texts of a match's session log, and adjusts its hash in the match and in the log of the league. */
export function forgeSessionLog({ events, matches }: Forgery, matchId: string, change: (text: string) => string): void {
  const match = matches[matchId];
  match.log = match.log.map(change);
  match.log_head = match.log.reduce(chainHash, GENESIS);
  const completed = events.find(({ type, match_id }) => type === "match_completed" && match_id === matchId);
  completed.log_head = match.log_head;
}

/** Sets the reason of a forfeit and the detail of its first fault, in the log of the league and in the match. */
export function setForfeitReason({ events, matches }: Forgery, matchId: string, reason: string, detail: string): void {
  const completed = events.find(({ type, match_id }) => type === "match_completed" && match_id === matchId);
  for (const result of [completed, matches[matchId]]) {
    result.reason = reason;
    result.faults[0].detail = detail;
  }
}

/** Writes the events of a log. Returns the hash of the last event. */
function writeLog(folder: string, file: string, events: readonly Json[]): string {
  const texts = events.map((event) => JSON.stringify(asStored(event)));
  writeFileSync(join(folder, file), linesOf(texts));
  return texts.reduce(chainHash, GENESIS);
}

/** Returns an event with its fields in the order in which the manager stores them; other values are returned unchanged. */
function asStored(event: Json): Json {
  const [league, agent] = [LeagueEvent.safeParse(event), AgentEvent.safeParse(event)];
  return (league.success && league.data) || (agent.success && agent.data) || event;
}

/** Changes one JSON file of an export, and adjusts the manifest. */
export function forgeFile(folder: string, file: string, change: (value: Json) => void): void {
  const value = JSON.parse(read(folder, file));
  change(value);
  writeFileSync(join(folder, file), canonical(value));
  rewriteManifest(folder);
}

/** Writes a manifest that is consistent with the files. */
export function rewriteManifest(folder: string): void {
  const names = filesIn(folder).filter((name) => name !== MANIFEST && name !== SIGNATURE);
  const files = new Map(names.map((name) => [name, read(folder, name)]));
  writeFileSync(join(folder, MANIFEST), canonical(manifestOf(files)));
}
