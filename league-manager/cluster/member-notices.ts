import { z } from "zod";
import { canonicalJson } from "#shared/games/contract/values.ts";
import type { Clock } from "#shared/lib/clock.ts";
import { hmacBase64Url } from "#shared/lib/hash.ts";
import { counted, parsedJson } from "#shared/lib/text.ts";
import { isOnLoopback } from "#shared/protocol/addresses.ts";
import type { Peers } from "#shared/rpc/peer/peer.ts";
import type { Config } from "#shared/runtime/config/config.ts";
import { DatabaseUnavailable, type Member, type RunDatabase } from "../shared-run/run-database.ts";

type WatchOptions = MemberNoticeOptions & AddressesOptions & ConfigOptions;

/** The checks of the other managers, whose results are for people. */
export interface Watch extends Pick<MemberNotices, "onDeparture"> {
  end(): void;
}

/** Starts the checks of the other managers. */
export function watchOthers(options: WatchOptions): Watch {
  const endComparing = compareConfigs(options);
  const endCheck = checkAddresses(options);
  const { onDeparture, stop } = watchMembers(options);
  return {
    onDeparture,
    end() {
      endComparing();
      endCheck();
      stop();
    },
  };
}

interface MemberNoticeOptions {
  readonly self: Member;
  /** Returns the known managers, with this one. */
  readonly members: () => readonly Member[];
  /** Returns whether this manager reaches the database. If not, it does not know which managers work. */
  readonly isFresh: () => boolean;
  readonly clock: Pick<Clock, "every" | "monotonic">;
  /** Sends a line for people, e.g. to the terminal. */
  readonly notice: (message: string) => void;
}

/** Sends a line when another manager starts, stops, or no longer answers. */
export interface MemberNotices {
  /** Records why a manager is about to leave the known ones. */
  onDeparture(managerId: string, departure: Departure): void;
  stop(): void;
}

const CHECK_MS = 1_000;
/**
 * The time for which this manager must reach the database before it compares the managers. After a failure of the database the managers send their first
 * heartbeats at different times, and the heartbeat of the former process of a manager counts for five seconds.
 */
const SETTLE_MS = 6_000;

const WHY: Readonly<Record<Departure, string>> = { stopped: "has stopped", refused: "accepts no connections" };
const SILENT = "has not reported for 5 s";

/** Starts the notices. The first one says how many managers work. Managers are compared by their addresses, because a manager that starts again has another id. */
export function watchMembers({ self, members, isFresh, clock, notice }: MemberNoticeOptions): MemberNotices {
  /** The other managers at the last comparison, by address; null before the first one. */
  let known: ReadonlyMap<string, Member> | null = null;
  /** The addresses of managers that worked earlier. */
  const former = new Set<string>();
  const departures = new Map<string, Departure>();
  let freshSince: number | null = null;

  const compare = (): void => {
    const others = members().filter(({ managerId }) => managerId !== self.managerId);
    const current = new Map(others.map((member) => [member.url, member]));
    const before = known;
    known = current;
    const work = `${counted(current.size + 1, "manager")} ${current.size === 0 ? "works" : "work"}`;
    if (before === null) notice(`${work} on this database: ${[self.url, ...current.keys()].join(", ")}`);
    for (const [url, { managerId }] of before ?? []) {
      if (current.has(url)) continue;
      const departure = departures.get(managerId);
      former.add(url);
      notice(`the manager at ${url} ${departure ? WHY[departure] : SILENT}; ${work}`);
    }
    for (const url of current.keys()) {
      if (before === null || before.has(url)) continue;
      const event = former.delete(url) ? `the manager at ${url} works again` : `another manager works at ${url}`;
      notice(`${event}; ${work}`);
    }
    const ids = new Set(others.map(({ managerId }) => managerId));
    for (const managerId of departures.keys()) if (!ids.has(managerId)) departures.delete(managerId);
  };

  const stop = clock.every(CHECK_MS, () => {
    if (!isFresh()) {
      freshSince = null;
      return;
    }
    freshSince ??= clock.monotonic();
    if (clock.monotonic() - freshSince >= SETTLE_MS) compare();
  });
  return {
    onDeparture(managerId, departure) {
      // A manager that has stopped also refuses connections.
      if (departures.get(managerId) !== "stopped") departures.set(managerId, departure);
    },
    stop,
  };
}

/** Why a manager leaves the others: it was stopped, or it refuses connections because its process seems to have ended. */
type Departure = "stopped" | "refused";

interface DeparturesOptions {
  readonly database: Pick<RunDatabase, "signal" | "onSignal">;
  /** Receives the signals of other managers. */
  readonly onDeparture: (managerId: string, departure: Departure) => void;
}

/** The beginning of each signal. The id of the manager that leaves follows. */
const PREFIXES: Readonly<Record<Departure, string>> = { stopped: "manager stopped ", refused: "manager gone " };

/** The signals with which the managers of a run tell each other that one of them leaves. Without a signal they notice it by its heartbeats. */
export function departureSignals({ database, onDeparture }: DeparturesOptions) {
  const end = database.onSignal((text) => {
    for (const departure of ["stopped", "refused"] as const) {
      const prefix = PREFIXES[departure];
      if (text.startsWith(prefix)) onDeparture(text.slice(prefix.length), departure);
    }
  });
  return {
    send: (managerId: string, departure: Departure): void =>
      void database.signal(`${PREFIXES[departure]}${managerId}`).catch(() => {}),
    end,
  };
}

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

/** The signal with which a manager sends the fingerprints of its config to the others. */
const ConfigSignal = z.object({
  type: z.literal("config"),
  manager_id: z.string(),
  url: z.string(),
  /** Whether this answers a manager with another config. */
  is_answer: z.boolean(),
  /** The fingerprint of each part, by its name. */
  parts: z.record(z.string(), z.string()),
});

interface ConfigOptions {
  readonly database: Pick<RunDatabase, "signal" | "onSignal">;
  readonly config: Config;
  readonly self: Member;
  /** The secret of the run. It is the key of the fingerprints, so that a join code cannot be guessed from them. */
  readonly secret: string;
  /** Prints a warning. */
  readonly warn: (line: string) => void;
}

/** The number of characters of a fingerprint. */
const FINGERPRINT_LENGTH = 16;

/**
 * Compares the config of this manager with those of the other managers, now and when another one starts. Both managers warn if a part differs that must
 * be the same. Returns a function that ends the comparison.
 */
function compareConfigs({ database, config, self, secret, warn }: ConfigOptions): () => void {
  const parts = fingerprints(config, secret);
  const warnedOf = new Set<string>();
  const send = (isAnswer: boolean): void => {
    const { managerId: manager_id, url } = self;
    const text = JSON.stringify({ type: "config", manager_id, url, is_answer: isAnswer, parts });
    database.signal(text).catch((thrown) => {
      if (!(thrown instanceof DatabaseUnavailable)) throw thrown; // the others compare again at their next start
    });
  };
  const removeListener = database.onSignal((text) => {
    const signal = ConfigSignal.safeParse(parsedJson(text));
    if (!signal.success) return;
    const { manager_id, url, is_answer, parts: others } = signal.data;
    const differing = Object.keys({ ...parts, ...others }).filter((part) => parts[part] !== others[part]);
    if (differing.length === 0 || warnedOf.has(manager_id)) return;
    warnedOf.add(manager_id);
    warn(
      `the manager at ${url} has another config: ${differing.join(", ")} ${differing.length === 1 ? "differs" : "differ"}. Start every manager with the same config`,
    );
    if (!is_answer) send(true);
  });
  send(false);
  return removeListener;
}

/**
 * The fingerprints of the parts of a config that all managers of a run must have. The address of a manager, its data folder, its proxies and the
 * referees that it starts may differ.
 */
function fingerprints(config: Config, secret: string): Readonly<Record<string, string>> {
  const { manager, leagues, players, timeouts, limits, allowed_hosts, allowed_origins } = config;
  const parts = {
    leagues,
    players,
    limits,
    allowed_hosts,
    allowed_origins,
    "manager.join_code": manager.join_code,
    "manager.operator_token": manager.operator_token,
    ...Object.fromEntries(Object.entries(timeouts).map(([name, value]) => [`timeouts.${name}`, value])),
  };
  return Object.fromEntries(
    Object.entries(parts).map(([part, value]) => [
      part,
      hmacBase64Url(secret, `config ${part} ${canonicalJson(value ?? null)}`).slice(0, FINGERPRINT_LENGTH),
    ]),
  );
}
