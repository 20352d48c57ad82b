import { z } from "zod";

const ms = (defaultMs: number) => z.int().min(1).max(86_400_000).default(defaultMs);

/** The timeouts of league-protocol.md in milliseconds, by the source table's operations; every one can be configured. */
export const Timeouts = z
  .strictObject({
    referee_register_ms: ms(10_000),
    league_register_ms: ms(10_000),
    /** game_join_ack */
    join_ms: ms(5_000),
    /** choose_parity: every game's move */
    move_ms: ms(30_000),
    game_over_ms: ms(5_000),
    match_result_report_ms: ms(10_000),
    default_ms: ms(10_000),
    /** How long a referee may have a match before it counts as aborted through its fault. */
    match_ms: ms(86_400_000),
    /** How long `league run` waits for a player that registers itself. */
    registration_ms: ms(300_000),
  })
  .prefault({});
export type Timeouts = z.infer<typeof Timeouts>;
