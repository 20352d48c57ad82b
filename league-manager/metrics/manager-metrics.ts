import { VERSION } from "#shared/runtime/process/version.ts";
import type { Ledger } from "../ledger.ts";
import type { CountedLedger } from "./counted-ledger.ts";
import { gauge, type MetricFamily } from "./families.ts";
import { MatchFigures } from "./match-figures.ts";
import { stateFigures } from "./state-figures.ts";

interface MetricsSources {
  readonly ledger: Pick<Ledger, "state" | "onCommit">;
  readonly commands: Pick<CountedLedger, "families">;
  readonly silentReferees: () => readonly string[];
}

/** The metrics of a manager. */
export interface ManagerMetrics {
  families(): Promise<readonly MetricFamily[]>;
}

/** Counts from now on. The other values are read from the state when they are asked for. */
export function managerMetrics({ ledger, commands, silentReferees }: MetricsSources): ManagerMetrics {
  const matches = new MatchFigures(ledger);
  return {
    families: async () => [
      gauge("league_manager_info", "The version of this manager.", [{ labels: { version: VERSION }, value: 1 }]),
      ...stateFigures(ledger.state, silentReferees()),
      ...matches.families(),
      ...commands.families(),
    ],
  };
}
