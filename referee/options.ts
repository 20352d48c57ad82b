import { z } from "zod";
import { MatchCapacity, Timeouts } from "#shared/protocol/message-fields.ts";
import { StartGame } from "#shared/protocol/messages.ts";
import { PORT_RANGES, portsFrom } from "#shared/runtime/defaults.ts";

const { referee_register_ms, match_result_report_ms, join_ms, move_ms, game_over_ms } = Timeouts.parse({});

/** The options of a referee or session host. */
export const ServiceOptions = z.object({
  /** Display name; null for the default: "Referee" and the port, and the address if the manager is on another machine. */
  name: z.string().nullable().default(null),
  /** The address to listen on; null: loopback without a manager or with one on this machine, else every address. */
  host: z.string().nullable().default(null),
  ports: z.array(z.int()).readonly().default(portsFrom(PORT_RANGES.referee)),
  /** Name of the database file, without its extension; by default `referee-` and the port. */
  storeName: z.string().optional(),
  /** The URL at which other agents reach this agent; null for the address by which it reaches the manager. */
  endpoint: z.string().nullable().default(null),
  /** The join code of the league; null if it has none. */
  joinCode: z.string().nullable().default(null),
  /** The league manager's endpoint; null for a session host. */
  manager: z.string().nullable(),
  /** The time without an action after which a session that is played by its seats expires. */
  expireAfterMs: z.number().default(24 * 3_600_000),
  maxConcurrentMatches: MatchCapacity,
  dataFolder: z.string(),
  registerTimeoutMs: z.number().default(referee_register_ms),
  reportTimeoutMs: z.number().default(match_result_report_ms),
  /** The origins of other sites whose pages may call `/mcp`. */
  allowedOrigins: z.array(z.string()).readonly().default([]),
  /** Whether the rate limit also applies to callers on loopback without a token. */
  limitLoopback: z.boolean().default(false),
  /** The time limit of an MCP client for one form or prompt; by default several minutes. */
  answerWithinMs: z.number().optional(),
  /** The endpoints, by name, of running players that agents and people can choose as opponents. */
  bots: z.custom<ReadonlyMap<string, string>>((bots) => bots instanceof Map).default(() => new Map()),
  /** The commands of chess engines that people can choose as opponents, besides those in the PATH. */
  engines: z.array(z.string()).readonly().default([]),
  /** The folders in which engines are searched besides the PATH. By default that of Debian's games. */
  engineFolders: z.array(z.string()).readonly().optional(),
  /** The time limits of bots. A process that is started for a game may need longer to join than a running player. */
  botTimeouts: StartGame.shape.timeouts.default({ join_ms: Math.max(join_ms, 30_000), move_ms, game_over_ms }),
  /** Whether a person has started this process, at a terminal or in an MCP host, so that a page may be opened in the browser. */
  isAttended: z.boolean().default(false),
  /** Shows a line at the terminal of this host, by default on stderr. The line may contain a secret, so it must not be logged. */
  showAtTerminal: z
    .custom<(line: string) => void>((show) => typeof show === "function")
    .default(() => (line: string) => void process.stderr.write(`${line}\n`)),
});
export type ServiceOptions = z.output<typeof ServiceOptions>;
