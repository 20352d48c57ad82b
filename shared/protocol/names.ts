import { z } from "zod";
import { isName } from "../lib/text.ts";

/** The name of an agent, for people: it is shown at terminals and on pages. */
export const DisplayName = z.string().trim().min(1).max(100).refine(isName, "must be text on one line");
