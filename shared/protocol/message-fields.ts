/** Fields that several messages have in common. */
import { z } from "zod";

export const id = z.string().min(1).max(200);
export const endpoint = z.string().max(2000);
export const roleMap = <T extends z.ZodType>(value: T) => z.record(z.string().max(100), value);
export const match = { league_id: id, match_id: id };
/** The schema of a message that every match or round sends to or from a player: compiled for speed. */
export const compiled = <Shape extends z.ZodRawShape>(shape: Shape) => z.compile(z.object(shape));
export const points = roleMap(z.number());
