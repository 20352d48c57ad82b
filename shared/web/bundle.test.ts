import { expect, test } from "vitest";
import { bundle } from "./bundle.ts";

test("the scripts of the pages contain their JSX runtime, including components outside site/", async () => {
  const { board, games } = await bundle();
  for (const script of [board, games]) {
    expect(script.length).toBeGreaterThan(1_000);
    expect(script).not.toMatch(/\bReact\./);
  }
});
