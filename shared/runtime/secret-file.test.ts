import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { systemClock } from "../lib/clock.ts";
import { systemIds } from "../lib/ids.ts";
import { systemDisk } from "./files/disk.ts";
import { StartError } from "./process/exit.ts";
import { readOrCreateSecret } from "./secret-file.ts";

const folder = mkdtempSync(join(tmpdir(), "secret-"));
afterAll(() => rmSync(folder, { recursive: true }));

it("a folder instead of a secret file is reported in one line with its path", () => {
  expect(() => readOrCreateSecret({ disk: systemDisk(systemClock), ids: systemIds }, folder)).toThrow(
    new StartError(`cannot use ${folder}: it is a folder`),
  );
});
