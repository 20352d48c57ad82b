import { expect, test } from "vitest";
import { fileNameOf } from "./file-name.ts";

test("fileNameOf encodes a name, and shortens a long name to a unique one", () => {
  expect(fileNameOf("Ann/Bob ü")).toBe("Ann%2FBob%20%C3%BC");
  const long = ["囲".repeat(100), `${"囲".repeat(99)}碁`].map(fileNameOf);
  expect(new Set(long).size).toBe(2);
  for (const name of long) expect(name).toMatch(/^[\w%-]{100,200}$/);
});
