import { constants } from "node:buffer";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { z } from "zod";
import { sha256Hex } from "#shared/lib/hash.ts";
import { messageOf, TOO_DEEP } from "#shared/lib/result.ts";
import { faultLine } from "#shared/lib/schema-messages.ts";
import { isDeeperThan } from "#shared/lib/text.ts";
import { canonical, contentsOf, digestOf, MANIFEST, Manifest, SIGNATURE } from "../format.ts";

/** The files of the export that is checked. They are untrusted input. */
export interface Source {
  /** The texts of the files, by file name. */
  readonly texts: ReadonlyMap<string, string>;
  /** The SHA-256 of the bytes of each file, by file name. Decoding replaces bytes that are not UTF-8, so the text cannot be hashed instead. */
  readonly hashes: ReadonlyMap<string, string>;
  readonly findings: Findings;
}

/** The maximum length of a string in Node.js. */
const MAX_FILE_BYTES = constants.MAX_STRING_LENGTH;

/** Reads all files of an export. Blames links and files that are too large. */
export function openSource(folder: string, findings: Findings): Source {
  const { files, others } = contentsOf(folder);
  for (const name of others) findings.blame(name, "is a link or another special entry, not a file");
  const texts = new Map<string, string>();
  const hashes = new Map<string, string>();
  for (const name of files) {
    const { size } = statSync(join(folder, name));
    if (size > MAX_FILE_BYTES) findings.blame(name, `has ${size} bytes; verify reads at most ${MAX_FILE_BYTES}`);
    else {
      const bytes = readFileSync(join(folder, name));
      texts.set(name, bytes.toString("utf8"));
      hashes.set(name, sha256Hex(bytes));
    }
  }
  return { texts, hashes, findings };
}

/** Compares every file with the manifest, and the manifest with its digest. Returns the digest. */
export function checkBytes(source: Source): string {
  const { texts, hashes, findings } = source;
  const manifest = readDocument(source, MANIFEST, Manifest);
  if (!manifest) return "";
  const existing = new Set([...texts.keys()].filter((name) => name !== MANIFEST && name !== SIGNATURE));
  for (const name of new Set([...Object.keys(manifest.files), ...existing])) {
    if (!existing.has(name)) blameMissing(source, name);
    else if (!Object.hasOwn(manifest.files, name)) findings.blame(name, "is not listed in manifest.json");
    else if (manifest.files[name] !== hashes.get(name))
      findings.blame(name, "was changed after the export: its SHA-256 differs from that in manifest.json");
  }
  if (digestOf(manifest.files) !== manifest.digest)
    findings.blame(MANIFEST, "its digest does not match the files that it lists");
  return manifest.digest;
}

/** Blames a file without a text as missing, unless it has been blamed because it cannot be read. */
function blameMissing({ findings }: Source, file: string): void {
  if (!findings.isBlamed(file)) findings.blame(file, "is missing");
}

/** The maximum depth of JSON values. Exports are nested less deeply, and a comparison of deeply nested values overflows the stack. */
const MAX_NESTING = 100;

const OTHER_FORM =
  "does not have the form in which export writes it: spaces, line breaks, fields or their order differ";

/** Parses a JSON file. Returns null and blames the file if it is missing or does not match the schema. */
export function readDocument<T>(source: Source, file: string, schema: z.ZodType<T>): T | null {
  const { texts, findings } = source;
  const text = texts.get(file);
  if (text === undefined) {
    blameMissing(source, file);
    return null;
  }
  try {
    const value = parseJson(text);
    const parsed = schema.safeParse(value);
    if (canonical(parsed.success ? parsed.data : value) !== text) findings.blame(file, OTHER_FORM);
    if (parsed.success) return parsed.data;
    for (const issue of parsed.error.issues.slice(0, 1)) findings.blame(file, faultLine(issue));
  } catch (thrown) {
    findings.blame(file, messageOf(thrown));
  }
  return null;
}

/** Parses untrusted JSON. Throws if it is invalid or nested too deeply. */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (isDeeperThan(MAX_NESTING, value)) throw new Error(TOO_DEEP);
  return value;
}

/** Returns the lines of a file; none if it is missing, which is blamed. */
export function readLines(source: Source, file: string): readonly string[] {
  const { texts, findings } = source;
  const text = texts.get(file);
  if (text === undefined) {
    blameMissing(source, file);
    return [];
  }
  const lines = text.split("\n");
  if (lines.pop() !== "") findings.blame(file, "its last line is cut off");
  return lines;
}

/** A fault or an exception of a file of an export. */
export interface Finding {
  readonly file: string;
  readonly message: string;
}

/** Collects the results of the checks of one export. */
export interface Findings {
  /** Contradictions and violations of rules. An export with faults is not sound. */
  readonly faults: readonly Finding[];
  /** Facts that only the operator or a referee asserts, without proof in the export. */
  readonly exceptions: readonly Finding[];
  /** Adds a fault, unless the file already has a fault with this message. */
  blame(file: string, message: string): void;
  /** Adds an exception. */
  except(file: string, message: string): void;
  isBlamed(file: string): boolean;
}

/** Creates an empty collection. */
export function createFindings(): Findings {
  const faults: Finding[] = [];
  const exceptions: Finding[] = [];
  /** The messages of the faults, by file. */
  const blamed = new Map<string, Set<string>>();
  return {
    faults,
    exceptions,
    blame(file, message) {
      const known = blamed.get(file) ?? new Set();
      if (known.has(message)) return;
      blamed.set(file, known.add(message));
      faults.push({ file, message });
    },
    except: (file, message) => void exceptions.push({ file, message }),
    isBlamed: (file) => blamed.has(file),
  };
}
