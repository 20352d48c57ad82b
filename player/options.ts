import { z } from "zod";
import { Timeouts } from "#shared/protocol/message-fields.ts";
import { BotPermissions } from "#shared/runtime/bot-permissions.ts";
import { PORT_RANGES, portsFrom } from "#shared/runtime/defaults.ts";

/** The options of a player. */
export const PlayerOptions = z.object({
  /** The name of a built-in bot, a file, `uci:COMMAND`, `lines:COMMAND`, or `manual` for moves by the tool make_move. */
  bot: z.string().default("random"),
  /** Display name; null for the default: bot and port, and the address if the manager is on another machine. */
  name: z.string().nullable().default(null),
  /** The address to listen on; null: loopback for a manager on this machine, else every address. */
  host: z.string().nullable().default(null),
  ports: z.array(z.int()).readonly().default(portsFrom(PORT_RANGES.player)),
  /** The URL at which other agents reach this agent; null for the address by which it reaches the manager. */
  endpoint: z.string().nullable().default(null),
  /** Whether the player polls an inbox at the manager instead of being called. */
  pull: z.boolean().default(false),
  /** The join code of the league; null if it has none. */
  joinCode: z.string().nullable().default(null),
  /** The manager's endpoint; null for a player that is registered on its behalf. */
  manager: z.string().nullable(),
  /** Without a manager: the file of the secret that is also in the league's config. It is created if it is missing. */
  secretFile: z.string().nullable().default(null),
  /** The leagues to enter; null for every open league of its games. */
  leagueIds: z.array(z.string()).readonly().nullable().default(null),
  /** Whether the player waits for a league that it can enter, and enters the leagues that are opened when its leagues are over. */
  entersLater: z.boolean().default(false),
  registerTimeoutMs: z.number().default(Timeouts.parse({}).league_register_ms),
  /** The origins of other sites whose pages may call `/mcp`. */
  allowedOrigins: z.array(z.string()).readonly().default([]),
  /** Whether the rate limit also applies to callers on loopback without a token. */
  limitLoopback: z.boolean().default(false),
  /** Whether each turn is written to the terminal and the log. */
  verbose: z.boolean().default(false),
  /** The address at which the process of a .ts or .js bot waits for a debugger, e.g. `127.0.0.1:9229`; null for none. */
  inspect: z.string().nullable().default(null),
  allow: BotPermissions.prefault({}),
  /** The folder of the token file. */
  dataFolder: z.string(),
});
export type PlayerOptions = z.output<typeof PlayerOptions>;
