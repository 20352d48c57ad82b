import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { counted, cutTo, escapeJson, escapeUnprintable, inOneLine } from "#shared/lib/text.ts";
import { DATA_FOLDER } from "#shared/runtime/defaults.ts";
import { loadGames } from "#shared/runtime/game-files.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import type { Standing } from "#shared/standings/standings.ts";
import { type Export, exportOf, exportOfDatabase } from "../archive/export-store.ts";
import { MANIFEST, writeExport } from "../archive/format.ts";
import { htmlReport } from "../archive/reports/html.ts";
import { EXPORT_FOLDER, REPORT_FOLDER, type ReportFormat } from "../archive/reports/report-formats.ts";
import { type ReportLeague, withLeagues, withLeaguesOfDatabase } from "../archive/reports/report-run.ts";
import { writeReports } from "../archive/reports/write-reports.ts";
import { publicKeyIn, signer } from "../archive/signature.ts";
import { findStore } from "../archive/stored-run.ts";
import { type Verified, verifyExport } from "../archive/verify/verify.ts";
import { standingsTable } from "../run/tables.ts";
import { databaseName } from "./open-database.ts";

interface ExportFlags {
  /** `json` for the export that can be verified, or reports. */
  readonly format: "json" | readonly ReportFormat[];
  /** Absent for the default folder of the format. */
  readonly out?: string;
  readonly sign?: string;
  /** The files of games that are not built in, for replays. */
  readonly game: readonly string[];
}

/** What a command reads: a folder, undefined for the default one, or a PostgreSQL database. */
export type ExportSource = { readonly folder: string | undefined } | { readonly database: string };

/** `league export`. Resolves with the exit code. Rejects with StartError if there is no run, or the folder or the key cannot be used. */
export async function exportRun(chosen: Promise<ExportSource>, flags: ExportFlags): Promise<number> {
  const source = await chosen;
  const { format, out, sign } = flags;
  if (format === "json")
    return exportFolder(source, { out: out ?? EXPORT_FOLDER, ...(sign !== undefined && { sign }) });
  if (sign !== undefined) throw new StartError("only the format json can be signed: omit --sign", EXIT.usage);
  const target = resolve(out ?? REPORT_FOLDER);
  if (existsSync(join(target, MANIFEST)))
    throw new StartError(
      `${target} is an export, which has no other files: name another folder with --out`,
      EXIT.usage,
    );
  await loadGames(flags.game);
  const html = format.includes("html") ? await htmlReport() : null;
  const write = (leagues: readonly ReportLeague[]) => writeReports(target, format, leagues, html);
  const names =
    "database" in source
      ? await withLeaguesOfDatabase(source.database, write)
      : await withLeagues(resolve(source.folder ?? DATA_FOLDER), write);
  for (const name of names) process.stdout.write(`${join(target, name)}\n`);
  return EXIT.ok;
}

/** Writes the logs, matches and seeds of a run into a folder that can be verified on any machine. */
async function exportFolder(
  source: ExportSource,
  flags: { readonly out: string; readonly sign?: string },
): Promise<number> {
  const sign = flags.sign === undefined ? () => null : signer(resolve(flags.sign));
  const { exported, name } = await exportedFrom(source);
  const { files, matches } = exported;
  const out = resolve(flags.out);
  const digest = writeExport(out, files, sign);
  const lines = [
    `${counted(matches, "match", "matches")} of ${name} written to ${out}`,
    ...unplayedLines(exported),
    ...(flags.sign === undefined ? [] : [`signed with ${resolve(flags.sign)}`]),
  ];
  process.stdout.write(`${lines.join("\n")}\ndigest ${digest}\n`);
  return EXIT.ok;
}

/** Reads the content of an export, and names where it comes from. */
async function exportedFrom(source: ExportSource): Promise<{ readonly exported: Export; readonly name: string }> {
  if ("database" in source) {
    const exported = await exportOfDatabase(source.database);
    return { exported, name: await databaseName(source.database) };
  }
  const store = findStore(resolve(source.folder ?? DATA_FOLDER));
  return { exported: await exportOf(store), name: dirname(store) };
}

/**
 * `league verify`: prints the standings and the verdict. Resolves with 0 for a sound export. Rejects with StartError: exit code 1 and a line for each of
 * the first faults if the export is not sound, or the game if its file is missing, 2 if the folder is not an export. With `json` it prints a document and resolves with 0 or 1. A database
 * is checked by an export of its content.
 */
export async function verify(chosen: Promise<ExportSource>, flags: VerifyFlags): Promise<number> {
  const source = await chosen;
  if (!("database" in source)) return verifyFolder(source.folder, flags);
  if (flags.key !== undefined) throw new StartError("only an export has a signature: omit --key", EXIT.usage);
  const temporary = mkdtempSync(join(tmpdir(), "league-verify-"));
  try {
    const { files } = await exportOfDatabase(source.database);
    writeExport(temporary, files, () => null);
    return await verifyFolder(temporary, flags, DATABASE_LINE);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

interface VerifyFlags {
  readonly json?: boolean;
  readonly key?: string;
  readonly game: readonly string[];
}

/** A database has no signature and no published digest. */
const DATABASE_LINE = "checked in the database: to prove the results to others, export them and sign the export";

/** `signed` replaces the line about the signature. */
async function verifyFolder(folder: string | undefined, flags: VerifyFlags, signed?: string): Promise<number> {
  if (folder === undefined) throw new StartError("name the folder of an export, or --database", EXIT.usage);
  if (!existsSync(folder)) throw new StartError(`${folder}: no such folder`, EXIT.usage);
  if (!existsSync(join(folder, MANIFEST))) {
    throw new StartError(`${folder} is not an export: it has no ${MANIFEST}. "league export" writes one.`, EXIT.usage);
  }
  await loadGames(flags.game);
  const key = flags.key === undefined ? null : publicKeyIn(resolve(flags.key));
  const verified = verifyExport(resolve(folder), key);
  const { faults } = verified;
  if (flags.json) {
    process.stdout.write(`${escapeJson(JSON.stringify(documentOf(verified), null, 2))}\n`);
    return faults.length === 0 && verified.unknownGames.length === 0 ? EXIT.ok : EXIT.failed;
  }
  if (faults.length > 0) {
    const lines = limited(faults.map(({ file, message }) => cutTo(MAX_CHARACTERS, inOneLine(`${file}: ${message}`))));
    const verdict = `not sound: ${counted(faults.length, "fault")}`;
    throw new StartError([...lines, verdict, ...gameHint(verified, flags.game)].join("\n"), EXIT.failed);
  }
  if (verified.unknownGames.length > 0) throw new StartError(uncheckedText(verified.unknownGames), EXIT.failed);
  const tables = [...verified.standings].map(([leagueId, rows]) =>
    standingsTable(inOneLine(leagueId), rows.map(printable)),
  );
  const lines = [...unplayedLines(verified), ...verdictLines(verified, signed ?? signatureLine(verified.signature))];
  process.stdout.write(`${tables.join("\n\n")}\n\n${lines.join("\n")}\n`);
  return EXIT.ok;
}

/** The verdict without the rules of a game. */
const uncheckedText = (games: readonly string[]): string =>
  [
    `cannot be checked without --game FILE, the file of ${joinItems(games, ", ")}: the matches are replayed by its rules`,
    "No fault was found in what does not depend on these rules.",
  ].join("\n");

/** Returns the reason why matches of a game that is not built in may not replay. */
function gameHint({ unknownGames }: Verified, given: readonly string[]): readonly string[] {
  if (unknownGames.length > 0)
    return [
      `Not a built-in game: ${joinItems(unknownGames, ", ")}. Check the export again with --game FILE, the file of the game.`,
    ];
  return given.length > 0
    ? ["A match replays only with the rules by which it was played: is the file of --game unchanged?"]
    : [];
}

/** The document of `verify --json`. */
function documentOf(verified: Verified): object {
  const { verdict, faults, exceptions, matches, withoutLog, digest, signature, unknownGames } = verified;
  return {
    ok: faults.length === 0 && unknownGames.length === 0,
    verdict,
    matches,
    without_log: withoutLog,
    unknown_games: unknownGames,
    unplayed: Object.fromEntries(verified.unplayed),
    discarded: verified.discarded,
    digest,
    signature: signature && { fingerprint: signature.fingerprint, key_checked: signature.isChecked },
    faults,
    exceptions,
    standings: Object.fromEntries(verified.standings),
  };
}

/** The maximum number of printed items of a list. The JSON document has all items. */
const MAX_ITEMS = 10;

/** The maximum length of a printed fault, which may quote values of the export. */
const MAX_CHARACTERS = 1_000;

const limited = (items: readonly string[]): readonly string[] => {
  const more = items.length > MAX_ITEMS ? [`and ${items.length - MAX_ITEMS} more`] : [];
  return [...items.slice(0, MAX_ITEMS), ...more];
};

const joinItems = (items: readonly string[], separator: string): string => inOneLine(limited(items).join(separator));

function verdictLines({ exceptions, matches, withoutLog, digest }: Verified, signed: string): readonly string[] {
  const messages = exceptions.map(({ message }) => message);
  const unlogged = withoutLog.length > 0 ? `, ${withoutLog.length} without a log (${joinItems(withoutLog, ", ")})` : "";
  return [
    signed,
    messages.length > 0 ? `verified except: ${joinItems(messages, "; ")}` : "verified",
    `${counted(matches, "match", "matches")} replayed${unlogged}, digest ${digest}`,
  ];
}

function signatureLine(signature: Verified["signature"]): string {
  if (!signature) {
    const risk = "anyone who can write the files can replace all of them";
    return `not signed: ${risk}. Compare the digest with the published one.`;
  }
  const signed = `signed with the key ${signature.fingerprint}`;
  if (signature.isChecked) return `${signed}, as expected`;
  return `${signed}, which was not compared with a key that you trust: add --key KEYFILE`;
}

/** Returns a line for each league that was not completed at the time of the export. */
const unplayedLines = ({ unplayed, notStarted }: Pick<Verified, "unplayed" | "notStarted">): readonly string[] =>
  [...unplayed].map(([leagueId, count]) => {
    const progress = `was not completed: up to ${counted(count, "match", "matches")} still to be played`;
    return inOneLine(`${leagueId} ${notStarted.includes(leagueId) ? "has not started" : progress}`);
  });

/** Returns a row without unprintable characters in its ids and names, which are untrusted input. */
const printable = (row: Standing): Standing => ({
  ...row,
  player_id: inOneLine(row.player_id),
  display_name: escapeUnprintable(row.display_name),
});
