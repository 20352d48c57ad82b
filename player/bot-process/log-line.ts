import { inspect } from "node:util";

/** Returns the arguments of `turn.log` as one line: text as it is, other values as Node.js shows them. */
export const logLine = (values: readonly unknown[]): string =>
  values
    .map((value) =>
      typeof value === "string"
        ? value
        : inspect(value, { depth: 10, breakLength: Number.POSITIVE_INFINITY, compact: true }),
    )
    .join(" ");
