import { expect } from "vitest";
import { type Verified, verifyExport } from "../verify/verify.ts";
import type { TestExports } from "./exports.ts";
import { type Forgery, forgeRun } from "./forgery.ts";

/** A forgery in which everything else is consistent, and the fault that verify must report. */
export type Attempt = readonly [what: string, change: (forgery: Forgery) => void, file: string, message: RegExp];

/** The result of verify for a copy of an export that is changed and made consistent. */
export function forged(exports: TestExports, folder: string, change: (forgery: Forgery) => void): Verified {
  const copy = exports.copyOf(folder);
  forgeRun(copy, change);
  return verifyExport(copy);
}

/** The messages of the faults of one file. */
export const messagesOf = ({ faults }: Verified, file: string): readonly string[] =>
  faults.filter((fault) => fault.file === file).map(({ message }) => message);

/** Expects that an export is not sound, and that this is one of its faults. */
export function expectFault(verified: Verified, file: string, message: RegExp): void {
  expect(verified.verdict).toBe("not sound");
  expect(messagesOf(verified, file)).toContainEqual(expect.stringMatching(message));
}
