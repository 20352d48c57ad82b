/** Fields that several messages share. */
import { z } from "zod";

export const id = z.string().min(1).max(200);
export const endpoint = z.string().max(2000);
export const roleMap = <T extends z.ZodType>(value: T) => z.record(z.string().max(100), value);
export const match = { league_id: id, match_id: id };
/**
 * Returns a compiled schema, which parses faster. It is used for messages that every match or round sends to or
 * receives from a player.
 */
export const compiled = <Shape extends z.ZodRawShape>(shape: Shape) => z.compile(z.object(shape));
export const points = roleMap(z.number());
