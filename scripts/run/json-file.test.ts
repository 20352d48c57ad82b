import fs, { fstatSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { readJson, writeJsonAtomically } from "./json-file.ts";

const folder = mkdtempSync(join(tmpdir(), "atomic-file-"));
afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
  rmSync(folder, { recursive: true, force: true });
});

test("writeJsonAtomically syncs the file before it renames it, and then the folder", () => {
  const steps: string[] = [];
  const { fsyncSync, renameSync } = fs;
  vi.spyOn(fs, "fsyncSync").mockImplementation((descriptor) => {
    steps.push(fstatSync(descriptor).isDirectory() ? "sync folder" : `sync ${readdirSync(folder)}`);
    fsyncSync(descriptor);
  });
  vi.spyOn(fs, "renameSync").mockImplementation((from, to) => {
    steps.push("rename");
    renameSync(from, to);
  });
  syncBuiltinESMExports();
  const file = join(folder, "run.json");
  writeJsonAtomically(file, { seed: 7 });
  expect(steps).toEqual(["sync run.json.new", "rename", "sync folder"]);
  expect([readJson(file), statSync(file).mode & 0o777, readdirSync(folder)]).toEqual([
    { seed: 7 },
    0o600,
    ["run.json"],
  ]);
});
