/** Something in an export: the file, and what was found in it. */
export interface Finding {
  readonly file: string;
  readonly message: string;
}

/** What a check of an export finds. */
export interface Findings {
  /** What does not hold. */
  readonly faults: readonly Finding[];
  /** What rests on the word of the league's operator or of a referee alone. */
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
