import { expect, test } from "vitest";
import { StartError } from "#shared/runtime/process/exit.ts";
import { StoreBusy } from "#shared/store/store-errors.ts";
import { DatabaseUnavailable } from "../shared-run/run-database.ts";
import { readingShared } from "./open-shared.ts";

test.each([
  ["that is lost before the first read", new DatabaseUnavailable("the database does not answer: x")],
  ["that is lost while the leagues are opened", new StoreBusy("the database does not answer")],
])("a database %s ends the start with one line", async (_, thrown) => {
  const starting = readingShared(() => Promise.reject(thrown));
  await expect(starting).rejects.toThrow(StartError);
  await expect(starting).rejects.toThrow(thrown.message);
});
