import type { Clock } from "#shared/lib/clock.ts";
import type { Ledger } from "../ledger.ts";
import { Counts, counter, Durations, type MetricFamily } from "./metric-families.ts";

const BOUNDS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** A ledger that counts and measures the commands of this manager. */
export interface CountedLedger {
  readonly ledger: Ledger;
  families(): readonly MetricFamily[];
}

export function countedLedger(ledger: Ledger, clock: Pick<Clock, "monotonic">): CountedLedger {
  const commands = new Counts("result", ["accepted", "rejected", "failed"]);
  const durations = new Durations(BOUNDS_S);
  const counted: Ledger = {
    get state() {
      return ledger.state;
    },
    execute(decide) {
      const startedAtMs = clock.monotonic();
      const answer = ledger.execute(decide);
      const add = (result: "accepted" | "rejected" | "failed"): void => {
        commands.add(result);
        durations.addMs(clock.monotonic() - startedAtMs);
      };
      answer.then(
        ({ ok }) => add(ok ? "accepted" : "rejected"),
        () => add("failed"),
      );
      return answer;
    },
    onCommit: (listener) => ledger.onCommit(listener),
    settled: () => ledger.settled(),
  };
  return {
    ledger: counted,
    families: () => [
      counter("league_commands_total", "Commands that this manager has decided, by result.", commands.samples()),
      durations.histogram("league_command_seconds", "Time from a command to its answer, with the commit."),
    ],
  };
}
