import { type Agents, originOf } from "../agents.ts";

/** Reads the events of a league at each manager and compares the times at which they arrive. */
export interface LatencyProbe {
  /** Ends the readers. Returns the milliseconds from the first arrival of each event until its arrival at each other manager, ascending. */
  stop(): readonly number[];
}

/** Opens a live stream of the results of the first league at each manager. */
export function probeLatency({ managers, leagues }: Agents): LatencyProbe {
  const leagueId = leagues[0]?.league_id ?? "";
  const stopping = new AbortController();
  const arrivals = new Map<string, number[]>();
  const onEvent = (version: string): void => {
    const times = arrivals.get(version) ?? [];
    times.push(performance.now());
    arrivals.set(version, times);
  };
  for (const { port } of managers) void readEvents(port, leagueId, stopping.signal, onEvent);
  return {
    stop() {
      stopping.abort();
      // An event that has not arrived at every manager was sent while the readers connected or ended.
      const complete = [...arrivals.values()].filter((times) => times.length === managers.length);
      return complete.flatMap(([first = 0, ...later]) => later.map((time) => time - first)).sort((a, b) => a - b);
    },
  };
}

async function readEvents(
  port: number,
  leagueId: string,
  signal: AbortSignal,
  onEvent: (version: string) => void,
): Promise<void> {
  const url = `${originOf(port)}/leagues/${leagueId}/events?types=match_completed`;
  let rest = "";
  try {
    const { body } = await fetch(url, { signal });
    if (body === null) return;
    for await (const text of body.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (line.startsWith("id:")) onEvent(line.slice(3).trim());
    }
  } catch (thrown) {
    if (!signal.aborted) throw thrown;
  }
}

/** Returns the value below which a share of ascending values lies; NaN without values. */
export const percentile = (ascending: readonly number[], share: number): number =>
  ascending[Math.min(ascending.length - 1, Math.floor(ascending.length * share))] ?? Number.NaN;
