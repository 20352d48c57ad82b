import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { canonical, filesIn, MANIFEST, manifestOf } from "./export.ts";

/** Changes a JSON file of an export and makes the manifest fit again, as somebody would who wants to deceive. */
export const forge = (file: string, change: (value: never) => void) => (folder: string) => {
  const value = JSON.parse(readFileSync(join(folder, file), "utf8"));
  change(value as never);
  writeFileSync(join(folder, file), canonical(value));
  const names = filesIn(folder).filter((name) => name !== MANIFEST);
  const files = new Map(names.map((name) => [name, readFileSync(join(folder, name), "utf8")]));
  writeFileSync(join(folder, MANIFEST), canonical(manifestOf(files)));
};
