import { z } from "zod";
import { isName } from "../lib/text.ts";

/** The name of an agent for people. It is shown in terminals and on pages. */
export const DisplayName = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .refine(
    (name) => name === "" || isName(name),
    "must be visible text on one line, without control characters or zero-width characters",
  );

export const JOIN_CODE_RULE =
  "a join code is 1 to 100 letters, digits, underscores, dots and dashes, and does not begin with a dot or a dash";

/** A join code. It is part of a command that people copy, so it contains no character that a shell would interpret. */
export const JoinCode = z.string().regex(/^\w[\w.-]{0,99}$/, JOIN_CODE_RULE);
