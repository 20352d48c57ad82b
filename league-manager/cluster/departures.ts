import type { RunDatabase } from "../shared-run/run-database.ts";

/** Why a manager leaves the others: it was stopped, or it refuses connections because its process seems to have ended. */
export type Departure = "stopped" | "refused";

interface DeparturesOptions {
  readonly database: Pick<RunDatabase, "signal" | "onSignal">;
  /** Receives the signals of other managers. */
  readonly onDeparture: (managerId: string, departure: Departure) => void;
}

/** The beginning of each signal. The id of the manager that leaves follows. */
const PREFIXES: Readonly<Record<Departure, string>> = { stopped: "manager stopped ", refused: "manager gone " };

/** The signals with which the managers of a run tell each other that one of them leaves. Without a signal they notice it by its heartbeats. */
export function departureSignals({ database, onDeparture }: DeparturesOptions) {
  const end = database.onSignal((text) => {
    for (const departure of ["stopped", "refused"] as const) {
      const prefix = PREFIXES[departure];
      if (text.startsWith(prefix)) onDeparture(text.slice(prefix.length), departure);
    }
  });
  return {
    send: (managerId: string, departure: Departure): void =>
      void database.signal(`${PREFIXES[departure]}${managerId}`).catch(() => {}),
    end,
  };
}
