import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exportOf } from "../export-store.ts";
import { contentsOf, writeExport } from "../format.ts";

/** Lists the files below a folder, as paths relative to it. */
export const filesIn = (folder: string): readonly string[] => contentsOf(folder).files;

/** A temporary folder with the exports of one test file. */
export interface TestExports {
  /** Exports the store whose file `fill` writes and returns. Resolves with the folder of the export. */
  exported(fill: (folder: string) => Promise<string>): Promise<string>;
  /** Copies an export into a new folder, and returns this folder. */
  copyOf(folder: string): string;
  /** Copies an export, changes the copy, and returns its folder. */
  changed(folder: string, change: (folder: string) => void): string;
  newFolder(): string;
  remove(): void;
}

/** Creates the temporary folder. The caller removes it. */
export function testExports(): TestExports {
  const root = mkdtempSync(join(tmpdir(), "archive-"));
  const newFolder = (): string => mkdtempSync(join(root, "export-"));
  const copyOf = (folder: string): string => {
    const copy = newFolder();
    cpSync(folder, copy, { recursive: true });
    return copy;
  };
  return {
    newFolder,
    copyOf,
    changed(folder, change) {
      const copy = copyOf(folder);
      change(copy);
      return copy;
    },
    async exported(fill) {
      const folder = newFolder();
      writeExport(join(folder, "export"), (await exportOf(await fill(folder))).files);
      return join(folder, "export");
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}
