import { expect, test } from "vitest";
import { runningOperations } from "./operator-operations.ts";

test("league_status shows which referees do not answer", async () => {
  const agents = ["REF01", "REF02"].map((id) => [id, { id, kind: "referee", state: "ACTIVE", maxConcurrent: 4 }]);
  const context = {
    ledger: { state: { agents: new Map(agents as never) } },
    views: { projections: { leagues: () => [] } },
    silentReferees: () => ["REF02"],
    operatorOnly: (handle: unknown) => handle,
  };
  const operations = runningOperations(context as unknown as Parameters<typeof runningOperations>[0]);
  const status = operations.find(({ request }) => request === "LEAGUE_STATUS");
  const answer = await status?.handle({}, {} as never);
  expect(answer).toMatchObject({
    value: {
      referees: [
        { referee_id: "REF01", answers: true },
        { referee_id: "REF02", answers: false },
      ],
    },
  });
});
