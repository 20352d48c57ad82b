import { expect, test } from "vitest";
import { systemIds } from "#shared/lib/ids.ts";
import { ok } from "#shared/lib/result.ts";
import { manualClock } from "#shared/lib/testing/clock.ts";
import { newEnvelope } from "../protocol/testing/envelope.ts";
import { CHECK_EVERY_MS, keepRegistered } from "./registration.ts";

test("an agent registers again each time that the manager has forgotten it", async () => {
  const clock = manualClock();
  const stopped = new AbortController();
  const lines: string[] = [];
  let isForgotten = true;
  const message = async () =>
    ok(
      isForgotten
        ? newEnvelope("LEAGUE_ERROR", "league_manager:LM01", { error_code: "L004", retryable: true })
        : newEnvelope("ACK", "league_manager:LM01", {}),
    );
  const kept = keepRegistered({
    manager: "http://127.0.0.1:8000/mcp",
    signal: stopped.signal,
    timeoutMs: 1_000,
    peers: { message } as unknown as Parameters<typeof keepRegistered>[0]["peers"],
    self: { clock, ids: systemIds, warn: (line: string) => void lines.push(line) } as unknown as Parameters<
      typeof keepRegistered
    >[0]["self"],
    knownAs: () => ({ sender: "player:P01", name: "Ann", token: "T" }),
    async registerAgain() {
      isForgotten = false;
    },
  });
  await clock.advance(CHECK_EVERY_MS);
  await kept.renew();
  expect(kept.renewals()).toBe(1);
  isForgotten = true;
  await clock.advance(CHECK_EVERY_MS);
  expect([kept.renewals(), lines.length]).toEqual([2, 2]);
  stopped.abort();
});
