import { type MessageType, messageTypes } from "#shared/protocol/envelope.ts";
import { ENTRY_TYPES } from "#shared/session/entry.ts";
import type { Database } from "#shared/store/sqlite.ts";
import { AGENT_EVENT_TYPES } from "../../league-manager/agents/registered-agent.ts";
import { LEAGUE_EVENT_TYPES } from "../../league-manager/league/events.ts";
import { DIALECT_PROGRAMS } from "./dialect-programs.ts";
import { dialectOf, type Plan } from "./plan.ts";

/** The messages of the tools that ask their caller questions. The MCP clients that can answer them are not simulated. */
const NOT_SIMULATED: ReadonlySet<MessageType> = new Set<MessageType>([
  ...(["CREATE_NEW_GAME", "CREATE_NEW_GAME_RESPONSE", "CONTINUE_GAME", "CONTINUE_GAME_RESPONSE"] as const),
]);

/** The kinds of players that are rare, and the referee that is stopped for longer than a match may take. */
const RARE = [
  "hostile",
  "late, makeup",
  "late, forfeit",
  "inbox",
  ...DIALECT_PROGRAMS,
  "token reset, inbox",
  "token reset, dialect",
  "stopped referee",
];

/** What the runs of a series must contain: all types of events, entries and messages of the program, and the rare parts of plans. */
const REQUIRED = {
  "event of a league": LEAGUE_EVENT_TYPES,
  "event of an agent": AGENT_EVENT_TYPES,
  "entry of a session": ENTRY_TYPES,
  message: messageTypes.filter((type) => !NOT_SIMULATED.has(type)),
  plan: RARE,
} as const;
type Group = keyof typeof REQUIRED;

/** Fewer runs need not contain everything. */
export const MIN_RUNS = 100;

/** How often each kind has occurred: numbers by the name of the kind. A worker sends them to its parent process. */
export type Counts = Readonly<Record<string, number>>;

const kindOf = (group: Group, type: string): string => `${group}: ${type}`;

/** Counts what one or several runs contain. */
export class Coverage {
  readonly #counts = new Map<string, number>();

  get counts(): Counts {
    return Object.fromEntries(this.#counts);
  }

  add(counts: Counts): void {
    for (const [kind, count] of Object.entries(counts)) this.#count(kind, count);
  }

  /** Counts the rare parts of a plan. */
  addPlan(plan: Plan): void {
    for (const part of rarePartsOf(plan)) this.#count(kindOf("plan", part), 1);
  }

  onRequest(body: string): void {
    const type = requestType(body);
    if (type !== null) this.#count(kindOf("message", type), 1);
  }

  onAnswer(body: string, reply: string): void {
    const type = answerType(body, reply);
    if (type !== null) this.#count(kindOf("message", type), 1);
  }

  /** Counts the events in the database of a process that has ended. */
  addDatabase(db: Database): void {
    for (const { name, type, count } of db.prepare(EVENTS).all())
      this.#count(kindOf(groupOf(String(name)), String(type)), Number(count));
  }

  #count(kind: string, count: number): void {
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + count);
  }

  /** The numbers of all kinds, one a line, in the order of the program. */
  lines(): readonly string[] {
    return kinds().map((kind) => `${String(this.#counts.get(kind) ?? 0).padStart(9)} ${kind}`);
  }

  /** The kinds that have not occurred. */
  missing(): readonly string[] {
    return kinds().filter((kind) => !this.#counts.has(kind));
  }
}

const kinds = (): readonly string[] =>
  (Object.keys(REQUIRED) as Group[]).flatMap((group) => REQUIRED[group].map((type) => kindOf(group, type)));

/** The parts of a plan that are rare. */
function rarePartsOf(plan: Plan): ReadonlySet<string> {
  const { players, contacts = [], lateMs = [], lateEntry, calls = [], disturbances } = plan;
  const parts = new Set<string>([...players, ...contacts]);
  if (lateMs.some((ms) => ms > 0)) parts.add(`late, ${lateEntry}`);
  for (const { tool, isForged, players: [name] = [] } of calls) {
    const index = Number(name?.slice(1)) - 1;
    if (tool !== "reset_token" || isForged) continue;
    parts.add(`token reset, ${dialectOf(plan, index) ? "dialect" : contacts[index]}`);
  }
  if (disturbances.some((one) => one.type === "stop" && one.machine.startsWith("referee")))
    parts.add("stopped referee");
  return new Set([...parts].filter((part) => RARE.includes(part)));
}

const EVENTS = `SELECT substr(name, 1, 7) AS name, type, count(*) AS count FROM log JOIN streams ON number = stream
  GROUP BY substr(name, 1, 7), type`;

function groupOf(stream: string): Group {
  if (stream.startsWith("league:")) return "event of a league";
  return stream.startsWith("agent:") ? "event of an agent" : "entry of a session";
}

const REQUEST = /"params":{"name":"(\w+)","arguments":{(?:"protocol":"league\.v2"[^{]*?"type":"([A-Z_]+)")?/;
const ANSWER = /\\"protocol\\":\\"league\.v2\\"[^{]*?\\"type\\":\\"([A-Z_]+)\\"/;

/** The message type of a request, or that of a named tool: its name in upper case, with underscores between the words (PROTOCOL.md, section 4). */
function requestType(body: string): string | null {
  const [, tool, type] = REQUEST.exec(body) ?? [];
  if (tool === undefined) return null;
  return type ?? tool.replace(/[A-Z]/g, "_$&").toUpperCase();
}

/** The message type of an answer. The plain result of a named tool counts as its answer. */
function answerType(body: string, reply: string): string | null {
  const type = ANSWER.exec(reply)?.[1];
  if (type !== undefined) return type;
  const isResult = reply.includes('"result"') && !reply.includes('"isError":true');
  return isResult ? `${requestType(body)}_RESPONSE` : null;
}
