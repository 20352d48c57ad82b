import type { Clock } from "#shared/lib/clock.ts";
import { parsedJson } from "#shared/lib/text.ts";
import { isOnLoopback } from "#shared/protocol/addresses.ts";
import type { Peers } from "#shared/rpc/peer/peer.ts";
import type { Member } from "../shared-run/run-database.ts";

interface AddressesOptions {
  readonly self: Member;
  /** Returns the known managers, with this one. */
  readonly members: () => readonly Member[];
  readonly peers: Pick<Peers, "get">;
  readonly clock: Pick<Clock, "every">;
  /** Prints a warning. */
  readonly warn: (line: string) => void;
}

const ADDRESS_CHECK_MS = 10_000;
const ANSWER_MS = 2_000;
/** The number of failed checks in a row before the warning. A manager that has ended is no longer known at the second one. */
const ADDRESS_CHECKS = 2;

/**
 * Checks regularly whether each known manager, with this one, answers at the address that it has registered. Warns once if it does not, and says when it
 * does again. Warns once if this manager has a loopback address and another one has not. Returns the function that ends this.
 */
export function checkAddresses({ self, members, peers, clock, warn }: AddressesOptions): () => void {
  const stopped = new AbortController();
  /** The number of failed checks in a row of each manager that has failed the last one. */
  let failed = new Map<string, number>();

  const check = async ({ managerId, url }: Member): Promise<number> => {
    const before = failed.get(managerId) ?? 0;
    const reply = await peers.get(`${url}/health`, ANSWER_MS, stopped.signal);
    if (stopped.signal.aborted) return 0;
    const answering = reply.ok
      ? (parsedJson(reply.value.text) as { server_id?: unknown } | undefined)?.server_id
      : null;
    const role = managerId === self.managerId ? "the other managers call this one" : "this manager calls another one";
    if (answering === managerId) {
      if (before >= ADDRESS_CHECKS) warn(`the right manager answers at ${url} again, where ${role}`);
      return 0;
    }
    if (before + 1 === ADDRESS_CHECKS) {
      const program =
        answering === null ? "no program" : answering === undefined ? "another program" : "another manager";
      const advice = `correct the LEAGUE_ADDRESS or --url of that manager${answering === null ? ", or open its port" : ""}`;
      warn(`${program} answers at ${url}, where ${role}: ${advice}`);
    }
    return before + 1;
  };

  let hasWarnedOfLoopback = false;
  const cancel = clock.every(ADDRESS_CHECK_MS, async () => {
    const known = members();
    const remote = isOnLoopback(self.url) ? known.find(({ url }) => !isOnLoopback(url)) : undefined;
    if (remote && !hasWarnedOfLoopback) {
      hasWarnedOfLoopback = true;
      warn(loopbackWarning(self.url, remote.url));
    }
    const counts = await Promise.all(known.map(check));
    failed = new Map(known.map(({ managerId }, index) => [managerId, counts[index] ?? 0]));
  });
  return () => {
    cancel();
    stopped.abort();
  };
}

/** Returns the warning of a manager that others on other machines cannot reach. */
function loopbackWarning(own: string, other: string): string {
  const port = new URL(own).port || "80";
  const cause = `the address of this manager is ${own}, at which a manager on another machine, such as ${other}, cannot reach it`;
  return `${cause}: start it with --host 0.0.0.0 --url http://ADDRESS:${port}, where ADDRESS is the address of this machine`;
}
