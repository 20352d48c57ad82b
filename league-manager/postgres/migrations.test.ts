import { expect, test } from "vitest";
import { sha256Hex } from "#shared/lib/hash.ts";
import { MIGRATIONS } from "./run-migrations.ts";

/** The SHA-256 of the SQL of each migration, by its number. */
const HASHES: Readonly<Record<number, string>> = {
  1: "a5e245bd5e51ca6d0597ca667c0b934e088fe611516637b8406c4ce16ae74164",
  2: "ee21088a71bfbc9d97ea7a0b95fa87ab81fb980bb805ebbb2a1c1852d7d4b80b",
};

const adviceFor = (number: number): string =>
  `The SQL of migration ${number} has changed. It is not applied again to a database that has it: undo the change and add a new migration to migrations.ts. Replace the hash in this test only if no release has the migration.`;

test("the SQL of a migration does not change", () => {
  for (const { number, sql } of MIGRATIONS) {
    const hash = HASHES[number];
    expect(hash, `add the hash of migration ${number} to this test: ${sha256Hex(sql)}`).toBeDefined();
    expect(sha256Hex(sql), adviceFor(number)).toBe(hash);
  }
  expect(MIGRATIONS.map(({ number }) => String(number))).toEqual(Object.keys(HASHES));
});
