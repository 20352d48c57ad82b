import { z } from "zod";
import { UCI_NODES, UCI_START_MS } from "../defaults.ts";

const limit = z.int().min(1);

/** The value of an option of an engine. */
const OptionValue = z.union([z.string().regex(/^[^\r\n]*$/, "must be one line"), z.int(), z.boolean()]);

/** The settings of a player that is a chess engine. */
export const UciSettings = z.strictObject({
  command: z
    .union([z.string().min(1), z.array(z.string().min(1)).min(1)])
    .describe('the command that starts the engine, e.g. "stockfish" or ["gnuchess", "--uci"]'),
  folder: z.string().default(".").describe("the folder in which the engine runs, relative to this file"),
  nodes: limit
    .optional()
    .describe(
      `positions that the engine searches for each move (default: ${UCI_NODES} if there is no other limit and the match has no clocks)`,
    ),
  depth: limit.max(1_000).optional().describe("plies that the engine searches for each move"),
  movetime_ms: limit.max(86_400_000).optional().describe("time that the engine uses for each move, milliseconds"),
  start_ms: limit
    .max(3_600_000)
    .optional()
    .describe(`time in which the engine answers uci, ucinewgame and isready, milliseconds (default: ${UCI_START_MS})`),
  options: z
    .record(z.string().regex(/^\S[^\r\n]*$/, "must be the name of an option"), OptionValue)
    .default({})
    .describe('options of the engine, e.g. {"Hash": 16, "Skill Level": 3}'),
});
export type UciSettings = Readonly<z.infer<typeof UciSettings>>;
