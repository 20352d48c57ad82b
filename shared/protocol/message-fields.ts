/** Fields that several messages share. */
import { z } from "zod";
import { isId, isName } from "../lib/text.ts";

const NOT_AN_ID = "must not contain spaces, control characters or zero-width characters";
/** An id of another program. Ids are printed, so characters that a terminal interprets are rejected where they arrive. */
export const id = z
  .string()
  .min(1)
  .max(200)
  .refine((text) => text === "" || isId(text), NOT_AN_ID);
export const endpoint = z
  .string()
  .max(2000)
  .refine((text) => text === "" || isName(text), "must not contain control characters or zero-width characters");
export const roleMap = <T extends z.ZodType>(value: T) => z.record(z.string().max(100).refine(isId, NOT_AN_ID), value);
export const match = { league_id: id, match_id: id };
/**
 * Returns a compiled schema, which parses faster. It is used for messages that every match or round sends to or
 * receives from a player.
 */
export const compiled = <Shape extends z.ZodRawShape>(shape: Shape) => z.compile(z.object(shape));
export const points = roleMap(z.number());

/** A move as a person or a language model writes it: the text of an action, its number or its JSON object. */
export const WrittenMove = z.union([z.string().max(1_000), z.number(), z.looseObject({})]);
