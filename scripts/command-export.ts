import { dirname, resolve } from "node:path";
import { EXIT, StartError } from "#shared/runtime/exit.ts";
import { exportedFiles, findStore, writeExport } from "./export.ts";
import { standingsTable } from "./progress.ts";
import { verifyExport } from "./verify.ts";

/** `league export`: writes a run's matches, logs and seeds into a folder that can be checked anywhere. */
export async function exportRun(folder: string, flags: { readonly out: string }): Promise<number> {
  const store = findStore(resolve(folder));
  const files = await exportedFiles(store);
  const out = resolve(flags.out);
  const digest = writeExport(out, files);
  process.stdout.write(`${files.size - 1} matches of ${dirname(store)} written to ${out}\ndigest ${digest}\n`);
  return EXIT.ok;
}

/** `league verify`: 0 when everything in an export holds, else 1 with one line for each thing that does not. */
export async function verify(folder: string, flags: { readonly json?: boolean }): Promise<number> {
  const { faults, matches, digest, standings } = verifyExport(resolve(folder));
  if (flags.json) {
    const document = { ok: faults.length === 0, matches, digest, faults, standings: Object.fromEntries(standings) };
    process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
    return faults.length === 0 ? EXIT.ok : EXIT.failed;
  }
  if (faults.length > 0) {
    throw new StartError(faults.map(({ file, message }) => `${file}: ${message}`).join("\n"), EXIT.failed);
  }
  const tables = [...standings].map(([leagueId, rows]) => standingsTable(leagueId, rows));
  process.stdout.write(`${tables.join("\n\n")}\n\nsound: ${matches} matches replayed, digest ${digest}\n`);
  return EXIT.ok;
}
