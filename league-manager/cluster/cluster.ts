import type { Clock } from "#shared/lib/clock.ts";
import { hmacBase64Url } from "#shared/lib/hash.ts";
import type { Ids } from "#shared/lib/ids.ts";
import type { Forwarding } from "#shared/rpc/http/forwarding.ts";
import type { Network } from "#shared/rpc/network.ts";
import type { Config } from "#shared/runtime/config/config.ts";
import type { Ledger } from "../ledger.ts";
import type { Member, RunDatabase } from "../shared-run/run-database.ts";
import { departureSignals, type Watch, watchOthers } from "./member-notices.ts";
import { createMembers, type Members } from "./members.ts";
import { catchUpOf, type Homes, type OtherManagers, otherHomes } from "./other-managers.ts";
import { callerSignature, managerForwarding, sessionPrefix } from "./request-forwarding.ts";

/** A manager among the other managers of its run. */
export interface Cluster extends OtherManagers {
  readonly forwarding: Forwarding;
  /**
   * `sessionPrefix`: the beginning of the ids of the MCP sessions of this manager. `stateKey`: signs the state of an interrupted tool call, so that any
   * manager can continue it.
   */
  readonly mcp: { readonly sessionPrefix: string; readonly stateKey: string };
  /** Returns whether this manager has joined the others and reaches the database. */
  isJoined(): boolean;
  /** Returns the number of managers that this one knows, with itself. */
  memberCount(): number;
  /** Returns whether this manager owns a key (`Members.isMine`); false before `join`. */
  isMine(key: string): boolean;
  /** Adds a listener that is called when the keys of this manager may have changed. */
  onChange(listener: () => void): () => void;
  /** Joins the other managers, which then reach this one at an origin such as `http://10.0.0.5:8000`. */
  join(url: string): Promise<void>;
  /** Leaves the other managers, which then take over its keys. */
  leave(): Promise<void>;
  /** Closes its connections. */
  close(): Promise<void>;
}

interface ClusterOptions {
  readonly database: Pick<RunDatabase, "heartbeat" | "leave" | "signal" | "onSignal">;
  readonly ledger: Pick<Ledger, "execute">;
  readonly config: Config;
  /** The secret of the run that its managers share. */
  readonly secret: string;
  /** Returns the player whose home answers a request; null if any manager can answer it. `path` has no query. */
  readonly playerOf: (path: string, bearer: string | null) => string | null;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly network: Pick<Network, "createPeers">;
  /** Prints a warning. */
  readonly warn: (line: string) => void;
  /** Sends a line for people, e.g. to the terminal. */
  readonly notice: (message: string) => void;
}

/** The time limit of the question whether another manager is ready. */
const READY_MS = 1_000;

const inboxKey = (playerId: string): string => `inbox/${playerId}`;

/** Returns the function that warns once that other managers cannot connect to this one. */
function refusedWarning(url: string, warn: (line: string) => void): () => void {
  let hasWarned = false;
  return () => {
    if (hasWarned) return;
    hasWarned = true;
    const advice = "correct its LEAGUE_ADDRESS or --url, or open its port, and start it again";
    warn(`${url} refuses the connections of another manager, so the others have taken over the inboxes: ${advice}`);
  };
}

export function createCluster(options: ClusterOptions): Cluster {
  const { database, ledger, secret, playerOf, clock, ids, network, warn } = options;
  const managerId = ids.uuid().slice(0, 8);
  const peers = network.createPeers();
  const signature = callerSignature({ secret, clock, warn });
  const elsewhere = otherHomes({ peers, signature, clock, ids });
  const listeners = new Set<() => void>();
  let members: Members | null = null;
  let watch: Watch | null = null;
  const homeOf = (playerId: string): Member | null => members?.ownerOf(inboxKey(playerId)) ?? null;
  const onChange: Homes["onChange"] = (listener) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  const notify = (): void => {
    for (const listener of [...listeners]) listener();
  };
  const exclude = (gone: string): void => {
    watch?.onDeparture(gone, "refused");
    members?.exclude(gone);
  };
  let onRefused = (): void => {};
  const departures = departureSignals({
    database,
    onDeparture(gone, departure) {
      if (departure === "stopped") watch?.onDeparture(gone, departure);
      else if (gone === managerId) onRefused();
      else exclude(gone);
    },
  });
  const onGone = ({ managerId: gone }: Member): void => {
    exclude(gone);
    departures.send(gone, "refused");
  };
  return {
    homes: {
      of(playerId) {
        const home = homeOf(playerId);
        if (home === null) return "unknown";
        return home.managerId === managerId ? "here" : elsewhere(home, playerId);
      },
      onChange,
    },
    catchUp: catchUpOf(ledger),
    forwarding: managerForwarding({
      self: { managerId },
      members: () => members?.all() ?? [],
      homeOf,
      playerOf,
      signature,
      onGone,
      onChange,
    }),
    mcp: { sessionPrefix: sessionPrefix({ managerId }), stateKey: hmacBase64Url(secret, "state of calls") },
    isJoined: () => members?.isFresh() ?? false,
    memberCount: () => members?.all().length ?? 0,
    isMine: (key) => members?.isMine(key) ?? false,
    onChange,
    async join(url) {
      const isReady = async ({ url: other }: Member): Promise<boolean> =>
        (await peers.probe(`${other}/ready`, READY_MS).catch(() => "silent")) === "alive"; // e.g. too many open files
      const self = { managerId, url };
      onRefused = refusedWarning(url, warn);
      members = await createMembers({ database, self, clock, isReady });
      watch = watchOthers({ ...options, self, members: members.all, isFresh: members.isFresh, peers });
      members.onChange(notify);
      notify();
    },
    async leave() {
      departures.end();
      watch?.end();
      if (members) departures.send(managerId, "stopped");
      await members?.stop();
      notify();
    },
    close: () => peers.close(),
  };
}
