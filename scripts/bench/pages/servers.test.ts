import { expect, it } from "vitest";
import type { Envelope } from "#shared/protocol/envelope.ts";
import { sendResult } from "../../testing/reported-leagues.ts";
import { launch } from "../process.ts";

it("the servers of the measurement of pages answer with the next result of a league", async () => {
  const servers = await launch("scripts/bench/pages/servers.ts", [], { endpoints: 2 });
  try {
    const { result } = await servers.ask<{ result: Envelope }>("four");
    await expect(sendResult(servers.urls[0] ?? "", result)).resolves.toBeUndefined();
  } finally {
    await servers.stop();
  }
});
