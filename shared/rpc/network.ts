import type { Clock } from "../lib/clock.ts";
import type { Result } from "../lib/result.ts";
import { openEventStream } from "./http/event-stream.ts";
import { type Listening, type ListenOptions, listenHttp } from "./http/http-server.ts";
import {
  addressToward,
  comesFrom,
  type Interfaces,
  interfaceReader,
  machineAddresses,
  nameResolver,
} from "./http/machine-addresses.ts";
import { createPeers, type Peers } from "./peer/peer.ts";

/** The network operations of an agent. They are passed to it as an argument, so that a simulation can connect agents in one process. */
export interface Network {
  /** Opens the endpoint of an agent on the first free port of `options.ports`. The error is one line for the operator. */
  listen(options: ListenOptions): Promise<Result<Listening, string>>;
  /** Creates a client for the endpoints of other agents. The caller closes it. */
  createPeers(): Peers;
  /** Opens a stream of server-sent events (`openEventStream`). */
  readonly openEventStream: typeof openEventStream;
  /** Resolves with the address of this machine in a connection to the host of a URL. Rejects if there is no connection within `timeoutMs`. */
  addressToward(url: string, timeoutMs: number): Promise<string>;
  /**
   * Resolves with whether a request from `remoteAddress` comes from the address of an endpoint. Programs of other dialects store no token, so this
   * address identifies them. It does not distinguish the programs of one machine.
   */
  comesFrom(endpoint: string, remoteAddress: string): Promise<boolean>;
  /** Returns the current network interfaces of this machine. */
  interfaces(): Interfaces;
}

/** Creates the network operations of this machine, over HTTP. */
export function httpNetwork(clock: Clock): Network {
  const interfaces = interfaceReader(clock);
  const resolve = nameResolver(clock);
  return {
    listen: (options) => listenHttp(options, clock, interfaces),
    createPeers: () => createPeers({ clock }),
    openEventStream,
    addressToward: (url, timeoutMs) => addressToward(url, timeoutMs, clock),
    comesFrom: (endpoint, remoteAddress) => comesFrom(endpoint, remoteAddress, machineAddresses(interfaces()), resolve),
    interfaces,
  };
}
