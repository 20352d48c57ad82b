import { expect } from "vitest";
import { type Verified, verifyExport } from "../verify/verify.ts";
import type { TestExports } from "./exports.ts";
import { type Forgery, forgeRun } from "./forgery.ts";

/** A change of an export after which all hashes are made consistent, and the fault that `verifyExport` must report. */
export type Attempt = readonly [name: string, change: (forgery: Forgery) => void, file: string, message: RegExp];

/** Changes a copy of an export, makes its hashes consistent, and returns the result of `verifyExport`. */
export function verifyForged(exports: TestExports, folder: string, change: (forgery: Forgery) => void): Verified {
  const copy = exports.copyOf(folder);
  forgeRun(copy, change);
  return verifyExport(copy);
}

/** Returns the messages of the faults of one file. */
export const messagesOf = ({ faults }: Verified, file: string): readonly string[] =>
  faults.filter((fault) => fault.file === file).map(({ message }) => message);

/** Expects that an export is not sound and that its faults include this one. */
export function expectFault(verified: Verified, file: string, message: RegExp): void {
  expect(verified.verdict).toBe("not sound");
  expect(messagesOf(verified, file)).toContainEqual(expect.stringMatching(message));
}
