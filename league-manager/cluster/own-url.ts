import type { Clock } from "#shared/lib/clock.ts";
import type { Peers } from "#shared/rpc/peer/peer.ts";
import type { Member } from "../shared-run/run-database.ts";

interface OwnUrlOptions {
  readonly self: Member;
  /** Returns the known managers. */
  readonly members: () => readonly Member[];
  readonly peers: Pick<Peers, "isListening">;
  readonly clock: Pick<Clock, "after">;
  /** Prints a warning. */
  readonly warn: (line: string) => void;
}

/** After this time a killed manager, which this one may replace at the same address, is no longer a known manager. */
const CHECK_AFTER_MS = 10_000;
const ANSWER_MS = 2_000;

/** Warns once, some seconds after the start, if the others cannot reach this manager at its address. Returns a function that cancels the check. */
export function checkOwnUrl({ self, members, peers, clock, warn }: OwnUrlOptions): () => void {
  const stopped = new AbortController();
  const { managerId, url } = self;
  const check = async (): Promise<void> => {
    const other = members().find((member) => member.url === url && member.managerId !== managerId);
    if (other) return warn(`another manager has the address ${url} too: start each manager with a different --url`);
    const answers = await peers.isListening(`${url}/health`, ANSWER_MS, stopped.signal);
    if (answers || stopped.signal.aborted) return;
    warn(`no program answers at ${url}, where the other managers call this one: correct --url, or open the port`);
  };
  const cancel = clock.after(CHECK_AFTER_MS, () => void check());
  return () => {
    cancel();
    stopped.abort();
  };
}
