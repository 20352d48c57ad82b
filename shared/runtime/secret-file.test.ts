import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { systemClock } from "../lib/clock.ts";
import { systemIds } from "../lib/ids.ts";
import { systemDisk } from "./files/disk.ts";
import { StartError } from "./process/exit.ts";
import { ownSecret } from "./secret-file.ts";

const folder = mkdtempSync(join(tmpdir(), "secret-"));
afterAll(() => rmSync(folder, { recursive: true }));

it("a folder in the place of a secret is a fault in one line that names it", () => {
  expect(() => ownSecret({ disk: systemDisk(systemClock), ids: systemIds }, folder)).toThrow(
    new StartError(`cannot use ${folder}: a folder is in its place`),
  );
});
