import type * as messages from "#shared/protocol/messages.ts";

/** How a referee or session host is started. */
export interface ServiceOptions {
  /** Display name; null for one made from where it is reached. */
  readonly name: string | null;
  /** The address to listen on; null: loopback for a manager on this machine or none, else every address. */
  readonly host: string | null;
  readonly ports: readonly number[];
  /** Name of the database file, without its extension; absent for one made from the port. */
  readonly storeName?: string;
  /** How others reach this agent; null for where it listens. */
  readonly endpoint?: string | null;
  /** The join code of the league; null if it has none. */
  readonly joinCode?: string | null;
  /** The league manager's endpoint; null for a session host alone. */
  readonly manager: string | null;
  /** A session acted by its seats expires after so much time without an action. */
  readonly expireAfterMs: number;
  readonly maxConcurrentMatches: number;
  readonly dataFolder: string;
  readonly registerTimeoutMs: number;
  readonly reportTimeoutMs: number;
  /** Whether callers on loopback without a token are held to the rate limit too. */
  readonly limitLoopback: boolean;
  /** How long an MCP client in a session may take over one form or prompt; minutes without it. */
  readonly answerWithinMs?: number | undefined;
  /** Players that may be asked to play against agents and people here, by name: their endpoints. */
  readonly bots: ReadonlyMap<string, string>;
  /** How long a bot may take to answer; absent for the usual. */
  readonly botTimeouts?: messages.StartGame["timeouts"];
  /** Whether a person started this, at a terminal or in an MCP host, and a page may be opened in the browser. */
  readonly isAttended: boolean;
  /** Shows a line to the people at this host; absent for a line on stderr, which the log does not get: it may hold a secret. */
  readonly tellPeople?: (line: string) => void;
}
