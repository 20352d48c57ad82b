import { isDeepStrictEqual } from "node:util";
import type { Database } from "#shared/store/sqlite.ts";
import { noWriter } from "#shared/store/writer.ts";
import { scheduleOf } from "../../../league-manager/projections/schedule.ts";
import { loadState } from "../../../league-manager/store/manager-state.ts";
import { managerStore } from "../../../league-manager/store/manager-store.ts";
import { START_MS } from "../machines/clock.ts";
import { managerNames } from "../machines/names.ts";
import type { World } from "../machines/world.ts";
import type { Plan } from "../plan.ts";
import type { LogEntry } from "./log.ts";
import { type Fault, faultsOf } from "./rules.ts";

/** The time after the end of the last disturbance in which every manager has started and has read all commits. */
export const AGREEMENT_MS = 10_000;

const request = (name: string): string =>
  JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name, arguments: { league_id: "sim" } },
  });

/** Returns the faults of managers that show another state of the league than the log of their database. */
export async function faultsOfAgreement(plan: Plan, world: World, db: Database): Promise<readonly Fault[]> {
  const { state } = await loadState(managerStore(db, noWriter), ["sim"]);
  const league = state.leagues.get("sim");
  if (!league) return [];
  const schedule: unknown = JSON.parse(JSON.stringify(scheduleOf(league)));
  const faults: string[] = [];
  const standings = new Set<string>();
  for (const name of managerNames(plan.managers)) {
    const shown = await shownBy(world, name, "get_schedule");
    if (!isDeepStrictEqual(shown, schedule))
      faults.push(`${name} shows another schedule than the log: ${JSON.stringify(shown)}`);
    standings.add(JSON.stringify(await shownBy(world, name, "get_standings")));
  }
  if (standings.size > 1) faults.push(`the managers show different standings: ${[...standings].join(" and ")}`);
  return faultsOf("managers", faults);
}

/** Resolves with the result of a tool of a manager about the league; null if the manager does not answer. */
export const shownBy = async (world: World, manager: string, tool: string): Promise<unknown> =>
  resultIn(await world.ask(manager, request(tool)));

/** The result of a tool in an answer; null without one. */
function resultIn(answer: string | null): unknown {
  const { result } = JSON.parse(answer ?? "{}") as { result?: { content?: readonly { text?: string }[] } };
  const text = result?.content?.[0]?.text;
  return text === undefined ? null : JSON.parse(text);
}

/** A time that a manager has read may be this old when its commit is observed. The dates of machines differ by more. */
const MAX_AGE_MS = 60_000;

/** Returns the faults of events that do not have the time of the database. */
export const faultsOfTimes = (log: readonly LogEntry[]): readonly Fault[] =>
  faultsOf(
    "managers",
    log.flatMap(({ stream, event, at }) => {
      const differenceMs = "at" in event ? Date.parse(event.at) - START_MS - at : 0;
      return Math.abs(differenceMs) <= MAX_AGE_MS
        ? []
        : [`${event.type} of ${stream} has a time that differs by ${Math.round(differenceMs)} ms`];
    }),
  );
