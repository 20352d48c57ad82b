import { expect, test } from "vitest";
import { fileNameOf } from "./file-name.ts";

test("a name that fits is encoded, a longer one is cut and stays one of a kind", () => {
  expect(fileNameOf("Ann/Bob ü")).toBe("Ann%2FBob%20%C3%BC");
  const long = ["囲".repeat(100), `${"囲".repeat(99)}碁`].map(fileNameOf);
  expect(new Set(long).size).toBe(2);
  for (const name of long) expect(name).toMatch(/^[\w%-]{100,200}$/);
});
