import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { counted, inOneLine } from "#shared/lib/text.ts";
import { EXIT, StartError } from "#shared/runtime/exit.ts";
import type { Standing } from "../league-manager/league/standings.ts";
import { ExportedRun, exportedFiles, findStore, MANIFEST, RUN_FILE, unplayedIn, writeExport } from "./export.ts";
import { standingsTable } from "./progress.ts";
import { verifyExport } from "./verify.ts";

/** `league export`: writes a run's matches, logs and seeds into a folder that can be checked anywhere. */
export async function exportRun(folder: string, flags: { readonly out: string }): Promise<number> {
  const store = findStore(resolve(folder));
  const files = await exportedFiles(store);
  const out = resolve(flags.out);
  const digest = writeExport(out, files);
  const unplayed = unplayedIn(ExportedRun.parse(JSON.parse(files.get(RUN_FILE) ?? "")));
  const lines = [
    `${counted(files.size - 1, "match", "matches")} of ${dirname(store)} written to ${out}`,
    ...openLines(unplayed),
  ];
  process.stdout.write(`${lines.join("\n")}\ndigest ${digest}\n`);
  return EXIT.ok;
}

/** `league verify`: 0 when everything in an export holds, 1 with one line for each fault, 2 for a folder that is not an export. */
export async function verify(folder: string, flags: { readonly json?: boolean }): Promise<number> {
  if (!existsSync(folder)) throw new StartError(`${folder}: no such folder`, EXIT.usage);
  if (!existsSync(join(folder, MANIFEST))) {
    throw new StartError(`${folder} is not an export: it has no ${MANIFEST}. "league export" writes one.`, EXIT.usage);
  }
  const verified = verifyExport(resolve(folder));
  const { faults, matches, digest, standings } = verified;
  if (flags.json) {
    const unplayed = Object.fromEntries(verified.unplayed);
    const known = { matches, unplayed, digest, faults, standings: Object.fromEntries(standings) };
    const document = { ok: faults.length === 0, ...known };
    process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
    return faults.length === 0 ? EXIT.ok : EXIT.failed;
  }
  if (faults.length > 0) {
    const lines = faults.map(({ file, message }) => inOneLine(`${file}: ${message}`));
    throw new StartError([...lines, `not sound: ${counted(faults.length, "fault")}`].join("\n"), EXIT.failed);
  }
  const tables = [...standings].map(([leagueId, rows]) => standingsTable(inOneLine(leagueId), rows.map(printable)));
  const lines = [
    ...openLines(verified.unplayed),
    `sound: ${counted(matches, "match", "matches")} replayed, digest ${digest}`,
  ];
  process.stdout.write(`${tables.join("\n\n")}\n\n${lines.join("\n")}\n`);
  return EXIT.ok;
}

/** What was still to be played when the export was made. */
const openLines = (unplayed: ReadonlyMap<string, number>): readonly string[] =>
  [...unplayed].map(([leagueId, left]) =>
    inOneLine(`${leagueId} was not over: ${left} of its matches were still to be played`),
  );

/** A row with the ids and names of somebody else's export, as a terminal may show it. */
const printable = (row: Standing): Standing => ({
  ...row,
  player_id: inOneLine(row.player_id),
  display_name: inOneLine(row.display_name),
});
