import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { importingTests, nearTests, productFiles } from "./selection.ts";

const root = join(import.meta.dirname, "../..");

describe("the tests of a file", () => {
  it("are those in its folder and those elsewhere that import it", () => {
    expect(nearTests(["shared/session/clocks.ts", "shared/session/session.ts"])).toEqual([
      "shared/session/**/*.test.ts",
    ]);
    const importing = importingTests("shared/session/match-result.ts", root);
    expect(importing).toContain("referee/match/clocks.test.ts");
    expect(importing.filter((test) => test.startsWith("shared/session/"))).toEqual([]);
  });

  it("are not changed, and neither are their helpers", () => {
    const session = productFiles(["shared/session"], root);
    expect(session).toContain("shared/session/clocks.ts");
    expect(session.filter((file) => /test/.test(file))).toEqual([]);
    expect(productFiles(["shared/session/clocks.ts:26-26", "shared/session/clocks.test.ts"], root)).toEqual([
      "shared/session/clocks.ts:26-26",
    ]);
  });
});
