import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { counted, cutTo, escapeJson, escapeUnprintable, inOneLine } from "#shared/lib/text.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import type { Standing } from "../../league-manager/league/standings.ts";
import { exportOf } from "../archive/export/export-store.ts";
import { findStore } from "../archive/export/find-store.ts";
import { MANIFEST, writeExport } from "../archive/files.ts";
import { publicKeyIn, signer } from "../archive/signature.ts";
import { type Verified, verifyExport } from "../archive/verify/verify.ts";
import { standingsTable } from "../run/progress.ts";

/** `league export`: writes a run's logs, matches and seeds into a folder that can be verified on any machine. */
export async function exportRun(
  folder: string,
  flags: { readonly out: string; readonly sign?: string },
): Promise<number> {
  const sign = flags.sign === undefined ? () => null : signer(resolve(flags.sign));
  const store = findStore(resolve(folder));
  const { files, matches, unplayed } = await exportOf(store);
  const out = resolve(flags.out);
  const digest = writeExport(out, files, sign);
  const lines = [
    `${counted(matches, "match", "matches")} of ${dirname(store)} written to ${out}`,
    ...openLines(unplayed),
    ...(flags.sign === undefined ? [] : [`signed with ${resolve(flags.sign)}`]),
  ];
  process.stdout.write(`${lines.join("\n")}\ndigest ${digest}\n`);
  return EXIT.ok;
}

/** `league verify`. Returns 0 for an export that is sound, fails with 1 and a line for each of the first faults, or with 2 if the folder is not an export. */
export async function verify(
  folder: string,
  flags: { readonly json?: boolean; readonly key?: string },
): Promise<number> {
  if (!existsSync(folder)) throw new StartError(`${folder}: no such folder`, EXIT.usage);
  if (!existsSync(join(folder, MANIFEST))) {
    throw new StartError(`${folder} is not an export: it has no ${MANIFEST}. "league export" writes one.`, EXIT.usage);
  }
  const key = flags.key === undefined ? null : publicKeyIn(resolve(flags.key));
  const verified = verifyExport(resolve(folder), key);
  const { faults } = verified;
  if (flags.json) {
    process.stdout.write(`${escapeJson(JSON.stringify(documentOf(verified), null, 2))}\n`);
    return faults.length === 0 ? EXIT.ok : EXIT.failed;
  }
  if (faults.length > 0) {
    const lines = limited(faults.map(({ file, message }) => cutTo(MOST_CHARACTERS, inOneLine(`${file}: ${message}`))));
    throw new StartError([...lines, `not sound: ${counted(faults.length, "fault")}`].join("\n"), EXIT.failed);
  }
  const tables = [...verified.standings].map(([leagueId, rows]) =>
    standingsTable(inOneLine(leagueId), rows.map(printable)),
  );
  const lines = [...openLines(verified.unplayed), ...verdictLines(verified)];
  process.stdout.write(`${tables.join("\n\n")}\n\n${lines.join("\n")}\n`);
  return EXIT.ok;
}

/** What `verify --json` prints. */
function documentOf(verified: Verified): object {
  const { verdict, faults, exceptions, matches, withoutLog, digest, signature } = verified;
  return {
    ok: faults.length === 0,
    verdict,
    matches,
    without_log: withoutLog,
    unplayed: Object.fromEntries(verified.unplayed),
    discarded: verified.discarded,
    digest,
    signature: signature && { fingerprint: signature.fingerprint, key_checked: signature.isChecked },
    faults,
    exceptions,
    standings: Object.fromEntries(verified.standings),
  };
}

/** The most items of a list that are printed; the JSON document has all. */
const MOST_PRINTED = 10;

/** The limit of a fault that is printed: it quotes values of the export. */
const MOST_CHARACTERS = 1_000;

const limited = (items: readonly string[]): readonly string[] => {
  const more = items.length > MOST_PRINTED ? [`and ${items.length - MOST_PRINTED} more`] : [];
  return [...items.slice(0, MOST_PRINTED), ...more];
};

const listed = (items: readonly string[], separator: string): string => inOneLine(limited(items).join(separator));

function verdictLines({ exceptions, matches, withoutLog, digest, signature }: Verified): readonly string[] {
  const messages = exceptions.map(({ message }) => message);
  const unlogged = withoutLog.length > 0 ? `, ${withoutLog.length} without a log (${listed(withoutLog, ", ")})` : "";
  return [
    signatureLine(signature),
    messages.length > 0 ? `verified except: ${listed(messages, "; ")}` : "verified",
    `${counted(matches, "match", "matches")} replayed${unlogged}, digest ${digest}`,
  ];
}

function signatureLine(signature: Verified["signature"]): string {
  if (!signature) {
    const risk = "a person who has the files can replace all of them";
    return `not signed: ${risk}. Compare the digest with the published one.`;
  }
  const signed = `signed by the key ${signature.fingerprint}`;
  if (signature.isChecked) return `${signed}, as expected`;
  return `${signed}, which was not compared with a key that you trust: give --key KEYFILE`;
}

/** The numbers of matches that were still to be played when the export was made. */
const openLines = (unplayed: ReadonlyMap<string, number>): readonly string[] =>
  [...unplayed].map(([leagueId, left]) =>
    inOneLine(`${leagueId} was not over: ${left} of its matches were still to be played`),
  );

/** A row with its ids and names made printable: the export is untrusted. */
const printable = (row: Standing): Standing => ({
  ...row,
  player_id: inOneLine(row.player_id),
  display_name: escapeUnprintable(row.display_name),
});
