import { z } from "zod";

/** The number of matches that a referee plays at the same time. */
export const MatchCapacity = z.int().min(1).max(100_000).default(64);
