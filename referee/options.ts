import { z } from "zod";
import { MatchCapacity } from "#shared/protocol/match-capacity.ts";
import { StartGame } from "#shared/protocol/messages.ts";
import { Timeouts } from "#shared/protocol/timeouts.ts";
import { PORT_RANGES, portsFrom } from "#shared/runtime/defaults.ts";

const { referee_register_ms, match_result_report_ms, join_ms, move_ms, game_over_ms } = Timeouts.parse({});

/** How a referee or session host is started. */
export const ServiceOptions = z.object({
  /** Display name; null for one made from where it is reached. */
  name: z.string().nullable().default(null),
  /** The address to listen on; null: loopback for a manager on this machine or none, else every address. */
  host: z.string().nullable().default(null),
  ports: z.array(z.int()).readonly().default(portsFrom(PORT_RANGES.referee)),
  /** Name of the database file, without its extension; absent for one made from the port. */
  storeName: z.string().optional(),
  /** How others reach this agent; null for where it listens. */
  endpoint: z.string().nullable().default(null),
  /** The join code of the league; null if it has none. */
  joinCode: z.string().nullable().default(null),
  /** The league manager's endpoint; null for a session host alone. */
  manager: z.string().nullable(),
  /** A session acted by its seats expires after so much time without an action. */
  expireAfterMs: z.number().default(24 * 3_600_000),
  maxConcurrentMatches: MatchCapacity,
  dataFolder: z.string(),
  registerTimeoutMs: z.number().default(referee_register_ms),
  reportTimeoutMs: z.number().default(match_result_report_ms),
  /** Whether callers on loopback without a token are held to the rate limit too. */
  limitLoopback: z.boolean().default(false),
  /** How long an MCP client in a session may take over one form or prompt; minutes without it. */
  answerWithinMs: z.number().optional(),
  /** Players that may be asked to play against agents and people here, by name: their endpoints. */
  bots: z.custom<ReadonlyMap<string, string>>((bots) => bots instanceof Map).default(() => new Map()),
  /** How long a bot may take to answer. A process that is started for a game may need longer to join than a player that is there. */
  botTimeouts: StartGame.shape.timeouts.default({ join_ms: Math.max(join_ms, 30_000), move_ms, game_over_ms }),
  /** Whether a person started this, at a terminal or in an MCP host, and a page may be opened in the browser. */
  isAttended: z.boolean().default(false),
  /** Shows a line to the people at this host; by default on stderr, which the log does not get: it may hold a secret. */
  tellPeople: z
    .custom<(line: string) => void>((tell) => typeof tell === "function")
    .default(() => (line: string) => void process.stderr.write(`${line}\n`)),
});
export type ServiceOptions = z.output<typeof ServiceOptions>;
