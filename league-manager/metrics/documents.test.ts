import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { EMPTY_STATE } from "../commands/testing/commands.ts";
import type { Ledger } from "../ledger.ts";
import { countedLedger } from "./counted-ledger.ts";
import { managerMetrics } from "./manager-metrics.ts";

const read = (path: string): string => readFileSync(new URL(`../../docs/${path}`, import.meta.url), "utf8");

/** The names of all metrics of a manager, as one of several. */
async function names(): Promise<readonly string[]> {
  const ledger = { state: EMPTY_STATE, onCommit: () => () => {} } as Pick<Ledger, "state" | "onCommit"> as Ledger;
  const metrics = managerMetrics({
    ledger,
    commands: countedLedger(ledger, systemClock),
    clock: systemClock,
    silentReferees: () => [],
    queueStats: async () => ({ waiting: 0, held: 0 }),
    shared: { isAvailable: () => true, commitNumber: () => 1, memberCount: () => 1 },
  });
  return (await metrics.families()).map(({ name }) => name);
}

test("docs/deployment.md describes exactly these metrics, and the alerts use no others", async () => {
  const existing = await names();
  const [, table = ""] = /^\| metric \|(.*?)^$/ms.exec(read("deployment.md")) ?? [];
  const described = table.split("\n").flatMap((row) => row.split("|")[1]?.match(/league_\w+/g) ?? []);
  expect([...described].sort()).toEqual([...existing].sort());
  const expressions = read("deployment/alerts.yml").replace(/^ *(#|- alert:|summary:|for:).*$/gm, "");
  const queries = read("deployment.md").match(/^\| .* \| `[^`]*\(.*` \|$/gm) ?? [];
  const used = [expressions, ...queries].join("\n").match(/\bleague_\w+/g) ?? [];
  expect([queries.length > 5, used.length > 15]).toEqual([true, true]);
  expect(used.map((name) => name.replace(/_bucket$/, "")).filter((name) => !existing.includes(name))).toEqual([]);
});
