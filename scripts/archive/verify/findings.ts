/** A fault or an exception of an export, and the file that has it. */
export interface Finding {
  readonly file: string;
  readonly message: string;
}

/** The results of the checks of one export. */
export interface Findings {
  /** Contradictions and violations of rules. An export with faults is not sound. */
  readonly faults: readonly Finding[];
  /** Facts that are asserted only by the operator or a referee; nothing in the export proves them. */
  readonly exceptions: readonly Finding[];
  blame(file: string, message: string): void;
  except(file: string, message: string): void;
  isBlamed(file: string): boolean;
}

export function createFindings(): Findings {
  const faults: Finding[] = [];
  const exceptions: Finding[] = [];
  /** The messages of each file: the same message is kept once. */
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
