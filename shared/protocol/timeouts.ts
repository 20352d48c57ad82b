import { z } from "zod";

const ms = (defaultMs: number, description: string) =>
  z.int().min(1).max(86_400_000).default(defaultMs).describe(`${description}, milliseconds`);

/** The longest time limit for a move, in milliseconds. */
export const LONGEST_MOVE_MS = 86_400_000;

/** The time limit for a move, in milliseconds. */
export const MoveLimit = z.int().min(1).max(LONGEST_MOVE_MS);

/** The timeouts of the league protocol in milliseconds, by operation. Each of them can be configured. */
export const Timeouts = z
  .strictObject({
    referee_register_ms: ms(10_000, "how long one attempt of a referee to register may take"),
    league_register_ms: ms(10_000, "how long one attempt of a player to register may take"),
    join_ms: ms(5_000, "how long a player may take to accept an invitation"),
    move_ms: ms(30_000, "how long a player may take for a move, including repeated attempts"),
    game_over_ms: ms(5_000, "how long a player may take to acknowledge a result"),
    match_result_report_ms: ms(10_000, "how long one attempt to report a result may take"),
    default_ms: ms(10_000, "how long any other call may take"),
    match_ms: ms(86_400_000, "how long a match may take before it is taken from its referee"),
    registration_ms: ms(300_000, "how long `league run` waits for players before it starts without them"),
  })
  .prefault({});
export type Timeouts = z.infer<typeof Timeouts>;
