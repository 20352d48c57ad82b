import { z } from "zod";
import { MAX_PATH_FIELDS } from "../games/view-history.ts";

/**
 * The form in which a player receives the history in its views: complete, or without the part that it has received. Forms of later versions count as
 * `full`.
 */
export const HistoryForm = z.enum(["full", "delta"]).catch("full");

/** The part of its history that a view lacks: the first `from` elements of a list. `list` is the path of field names to it. */
export const OmittedHistory = z.object({
  list: z.tuple([z.string()], z.string()).refine(({ length }) => length <= MAX_PATH_FIELDS),
  from: z.int().min(1),
});
export type OmittedHistory = z.infer<typeof OmittedHistory>;

/** The field `history` of a player that wants the new part only. Otherwise it is absent, as for players of earlier versions. */
export const historyField = (wantsDelta: boolean): { readonly history?: "delta" } =>
  wantsDelta ? { history: "delta" } : {};
