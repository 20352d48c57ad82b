import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../../testing/processes.ts";
import { MUTATIONS } from "./mutations.ts";

// `npm run simulate:mutations` applies them, which takes minutes. A quote that no longer matches is found here.
describe("a deliberate fault for the simulation", () => {
  it.each(MUTATIONS.map((mutation) => [mutation.name, mutation] as const))(
    "quotes a text that its file has exactly once: %s",
    (_name, { file, from, to }) => {
      expect(readFileSync(join(root, file), "utf8").split(from)).toHaveLength(2);
      expect(to).not.toBe(from);
    },
  );
});
