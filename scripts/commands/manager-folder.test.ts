import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { lockFile, openSqlite } from "#shared/store/sqlite.ts";
import { MANAGER_SCHEMA } from "../../league-manager/store/manager-store.ts";
import { managerFolder } from "./operator.ts";

/** Creates a data folder. */
function newData(): string {
  const data = mkdtempSync(join(tmpdir(), "manager-folder-"));
  onTestFinished(() => rmSync(data, { recursive: true }));
  return data;
}

/** Creates the folder of a manager or of a run without a manager: `league match` plays in its own process. */
function folderOf(data: string, { hasToken = true } = {}): string {
  mkdirSync(data, { recursive: true });
  openSqlite(join(data, "league-manager.sqlite"), MANAGER_SCHEMA).close();
  if (hasToken) writeFileSync(join(data, "operator-token"), "token\n");
  return data;
}

/** Locks a file as a running manager does. */
function runManager(file: string): void {
  const lock = lockFile(file);
  onTestFinished(() => lock?.release());
}

test("is the run whose manager runs, although the data folder has an operator token of `league serve`", () => {
  const data = folderOf(newData());
  const run = folderOf(join(data, "runs", "2026-01-01"));
  folderOf(join(data, "runs", "2026-01-02"));
  expect(managerFolder(data)).toBe(data);
  runManager(join(run, "league-manager.sqlite"));
  expect(managerFolder(data)).toBe(run);
});

test("is the run whose manager runs, although matches were played later", () => {
  const data = newData();
  const run = folderOf(join(data, "runs", "2026-01-01"));
  const match = folderOf(join(data, "runs", "2026-01-02"), { hasToken: false });
  runManager(join(run, "league-manager.sqlite"));
  expect(managerFolder(data)).toBe(run);
  expect(managerFolder(match)).toBe(match);
});

test("is the data folder of a manager with a database of several managers", () => {
  const data = newData();
  writeFileSync(join(data, "operator-token"), "token\n");
  runManager(join(data, "league-manager"));
  expect(managerFolder(data)).toBe(data);
});

test("is the newest run if no manager runs and the data folder has no token", () => {
  const data = newData();
  const run = folderOf(join(data, "runs", "2026-01-01"));
  expect(managerFolder(data)).toBe(run);
  expect(managerFolder(newData())).not.toBe(data);
});
