import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { agentLogFile, canonical, contentsOf, MANIFEST, matchFile, RUN_FILE, writeExport } from "./format.ts";
import { filesIn, type TestExports, testExports } from "./testing/exports.ts";

const FILES = new Map([
  [RUN_FILE, "{}\n"],
  [matchFile("rps", "R1M1"), "{}\n"],
  [agentLogFile("P01"), "{}\n"],
]);

let exports: TestExports;
beforeAll(() => {
  exports = testExports();
});
afterAll(() => exports.remove());

it("writeExport replaces an earlier export, even an incomplete one", () => {
  const folder = join(exports.newFolder(), "export");
  const digest = writeExport(folder, FILES);
  expect(JSON.parse(readFileSync(join(folder, MANIFEST), "utf8")).digest).toBe(digest);
  rmSync(join(folder, RUN_FILE));
  const fewer = new Map([[RUN_FILE, "[]\n"]]);
  expect(writeExport(folder, fewer)).not.toBe(digest);
  expect(filesIn(folder).toSorted()).toEqual([RUN_FILE, MANIFEST].toSorted());
});

it("writeExport rejects a folder that contains other files", () => {
  const folder = join(exports.newFolder(), "export");
  writeExport(folder, FILES);
  writeFileSync(join(folder, "homework.txt"), "mine");
  expect(() => writeExport(folder, FILES)).toThrow(`${folder} contains homework.txt, which is not part of an export`);
  expect(filesIn(folder)).toHaveLength(5);
});

it("writeExport rejects a folder with the manifest of another program", () => {
  const folder = exports.newFolder();
  writeFileSync(join(folder, MANIFEST), '{"name":"a web application","icons":[]}');
  expect(() => writeExport(folder, FILES)).toThrow(`contains ${MANIFEST}, which is not part`);
  expect(filesIn(folder)).toEqual([MANIFEST]);
});

it("writeExport does not delete files through a link to another folder", () => {
  const other = exports.newFolder();
  writeFileSync(join(other, "thesis.txt"), "mine");
  const folder = join(exports.newFolder(), "export");
  writeExport(folder, FILES);
  const manifest = JSON.parse(readFileSync(join(folder, MANIFEST), "utf8"));
  manifest.files["dir/thesis.txt"] = "";
  writeFileSync(join(folder, MANIFEST), canonical(manifest));
  symlinkSync(other, join(folder, "dir"));
  expect(() => writeExport(folder, FILES)).toThrow(`${folder} contains dir, which is not part of an export`);
  expect(filesIn(other)).toEqual(["thesis.txt"]);
});

it("contentsOf lists links and does not follow them, even links to a parent folder", () => {
  const folder = exports.newFolder();
  mkdirSync(join(folder, "matches"));
  writeFileSync(join(folder, "matches", "R1M1.json"), "{}");
  for (const name of ["loop", "matches/loop"]) symlinkSync(folder, join(folder, name));
  symlinkSync(join(folder, "matches", "R1M1.json"), join(folder, "R1M1.json"));
  const { files, others } = contentsOf(folder);
  expect(files).toEqual([join("matches", "R1M1.json")]);
  expect(others.toSorted()).toEqual(["R1M1.json", "loop", join("matches", "loop")]);
});
