import { StartError } from "#shared/runtime/process/exit.ts";
import { StoreBusy, StoreUnwritable } from "#shared/store/store-errors.ts";
import { DatabaseUnavailable } from "../../../league-manager/shared-run/run-database.ts";
import { DiskFull } from "./disk.ts";

/** Returns true for errors with which a process ends by design. */
export const isExpected = (thrown: unknown): boolean =>
  thrown instanceof StartError || thrown instanceof DiskFull || thrown instanceof StoreUnwritable;

/** Returns true for errors with which the start of a manager ends while its database does not answer. */
export const isExpectedAtStart = (thrown: unknown): boolean =>
  isExpected(thrown) || thrown instanceof DatabaseUnavailable || thrown instanceof StoreBusy;
