import { mkdirSync, readFileSync } from "node:fs";
import { expect, it, test } from "vitest";
import { fileFault } from "./exit.ts";

const thrownBy = (run: () => unknown): unknown => {
  try {
    return run();
  } catch (thrown) {
    return thrown;
  }
};

test.each([
  [() => readFileSync("/no/such/file"), "cannot use /no/such/file: there is no such file or folder"],
  [() => mkdirSync("/dev/null/folder"), "cannot use /dev/null/folder: a part of the path is a file"],
])("fileFault returns one line about an error of the file system: %#", (run, line) => {
  expect(fileFault(thrownBy(run))).toBe(line);
});

it.each([undefined, null, "text", new Error("broken")])("fileFault returns null for %s", (thrown) => {
  expect(fileFault(thrown)).toBeNull();
});
