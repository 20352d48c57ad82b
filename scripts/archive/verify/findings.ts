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
