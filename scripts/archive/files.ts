import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { sha256Hex } from "#shared/lib/hash.ts";
import { inOneLine } from "#shared/lib/text.ts";
import { StartError } from "#shared/runtime/process/exit.ts";

export const MANIFEST = "manifest.json";
export const SIGNATURE = "signature.json";
export const RUN_FILE = "league.json";
export const matchFile = (leagueId: string, matchId: string): string => join("matches", leagueId, `${matchId}.json`);
/** The events of a league, one stored text a line. */
export const leagueLogFile = (leagueId: string): string => join("leagues", `${leagueId}.jsonl`);
/** The events of an agent, one stored text a line. */
export const agentLogFile = (agentId: string): string => join("agents", `${agentId}.jsonl`);

export const Manifest = z.strictObject({
  /** File to the SHA-256 of its bytes, sorted by name. */
  files: z.record(z.string(), z.string()),
  /** SHA-256 over the lines `hash  file` of all files. */
  digest: z.string(),
});
export type Manifest = z.infer<typeof Manifest>;

/** The only form of exported JSON files, so that equal values have equal hashes. */
export const canonical = (value: unknown): string => `${JSON.stringify(value, null, 1)}\n`;

/** Texts without line breaks as a file of lines. */
export const linesOf = (texts: readonly string[]): string => texts.map((text) => `${text}\n`).join("");

export function manifestOf(files: ReadonlyMap<string, string>): Manifest {
  const hashes = [...files]
    .map(([name, text]) => [name, sha256Hex(text)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return { files: Object.fromEntries(hashes), digest: digestOf(Object.fromEntries(hashes)) };
}

/** The digest of the files of a manifest, in its order. */
export function digestOf(files: Manifest["files"]): string {
  const lines = Object.entries(files).map(([name, hash]) => `${hash}  ${name}\n`);
  return sha256Hex(lines.join(""));
}

/**
 * Writes an export and its manifest into a folder and replaces an export in it. Returns the digest. Throws StartError if the folder contains
 * other files, because they would become a part of the export. `sign` returns the text of the signature file for a digest.
 */
export function writeExport(
  folder: string,
  files: ReadonlyMap<string, string>,
  sign: (digest: string) => string | null = () => null,
): string {
  const manifest = manifestOf(files);
  const signature = sign(manifest.digest);
  removeExport(folder);
  // The manifest is written first, so that an incomplete export is recognised and can be replaced.
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, MANIFEST), canonical(manifest));
  for (const below of new Set([...files.keys()].map(dirname))) mkdirSync(join(folder, below), { recursive: true });
  for (const [name, text] of files) writeFileSync(join(folder, name), text);
  if (signature !== null) writeFileSync(join(folder, SIGNATURE), signature);
  return manifest.digest;
}

/** The entries below a folder, by their paths from it. */
export interface Contents {
  readonly files: readonly string[];
  /** Symbolic links, sockets and other entries that are neither a file nor a folder. */
  readonly others: readonly string[];
}

/** The entries below a folder; none if the folder does not exist. Links are not followed: they can lead out of the folder, or back into it. */
export function contentsOf(folder: string): Contents {
  const files: string[] = [];
  const others: string[] = [];
  const below = existsSync(folder) && statSync(folder).isDirectory() ? [""] : [];
  for (let next = below.pop(); next !== undefined; next = below.pop()) {
    for (const entry of readdirSync(join(folder, next), { withFileTypes: true })) {
      const list = entry.isFile() ? files : entry.isDirectory() ? below : others;
      list.push(join(next, entry.name));
    }
  }
  return { files, others };
}

function removeExport(folder: string): void {
  const { files, others } = contentsOf(folder);
  const known = new Set(files.includes(MANIFEST) ? listedIn(readFileSync(join(folder, MANIFEST), "utf8")) : []);
  const other = others[0] ?? files.find((name) => !known.has(name));
  if (other !== undefined) {
    throw new StartError(
      `${folder} holds ${inOneLine(other)}, which is no part of an export: name an empty folder with --out`,
    );
  }
  for (const name of files) unlinkSync(join(folder, name));
}

/** The files of the export with this manifest; none if it is the manifest of another program. */
function listedIn(manifest: string): readonly string[] {
  try {
    return [MANIFEST, SIGNATURE, ...Object.keys(Manifest.parse(JSON.parse(manifest)).files)];
  } catch {
    return [];
  }
}
