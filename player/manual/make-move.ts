import { z } from "zod";
import { parsedJson } from "#shared/lib/text.ts";

/** The arguments of make_move: a `number` in even/odd, or a `move` in any game. */
export const MakeMove = z
  .object({
    number: z.int().min(1).max(5).optional().describe("the move in even/odd"),
    move: (z.union([z.string(), z.number(), z.looseObject({})]) as z.ZodType<unknown>)
      .optional()
      .describe("the move in any game: one of the legal actions that get_my_state lists; in chess UCI or SAN"),
    match_id: z
      .string()
      .max(200)
      .optional()
      .describe(
        "league_id/match_id of the match, or its match_id alone if that is unambiguous; default: the oldest request",
      ),
  })
  .refine(({ number, move }) => number !== undefined || move !== undefined, {
    path: ["move"],
    message: "is missing: give {number} from 1 to 5 or {move}",
  })
  .refine(({ number, move }) => number === undefined || move === undefined || numberIn(move) === number, {
    path: ["move"],
    message: "differs from number: give one of them, or the same move in both",
  })
  .transform(({ number, move, match_id }) => ({ move: move ?? number, match_id }));

/** The number in a move of even/odd: 3, "3" and {"number": 3} are the same move. Other moves are returned unchanged. */
function numberIn(move: unknown): unknown {
  const plain = typeof move === "string" ? parsedJson(move.trim()) : move;
  return typeof plain === "object" && plain !== null && "number" in plain ? plain.number : plain;
}
