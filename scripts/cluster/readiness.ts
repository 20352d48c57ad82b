import { originOf } from "./agents.ts";

const PROBE_MS = 1_000;
const PAUSE_MS = 100;

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits until the server at a port of this machine is ready. Resolves with false if it is not ready after `ms` milliseconds. */
export async function untilReady(port: number, ms: number): Promise<boolean> {
  const deadline = performance.now() + ms;
  while (!(await isReady(port))) {
    if (performance.now() > deadline) return false;
    await sleep(PAUSE_MS);
  }
  return true;
}

async function isReady(port: number): Promise<boolean> {
  try {
    const response = await fetch(`${originOf(port)}/ready`, { signal: AbortSignal.timeout(PROBE_MS) });
    await response.text();
    return response.status === 200;
  } catch {
    return false;
  }
}
