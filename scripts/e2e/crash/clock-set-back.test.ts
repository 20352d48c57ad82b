import { expect, it, vi } from "vitest";
import { startTestLeague } from "../../testing/in-process-league.ts";

it("a league starts without a player that does not register in time, even if the clock is set back by an hour", async () => {
  const systemDate = Date.now;
  const absent = {
    name: "Absent",
    async start() {
      // The league waits for the registration of this player.
      vi.spyOn(Date, "now").mockImplementation(() => systemDate() - 3_600_000);
      return { stop: async () => {} };
    },
  };
  const league = await startTestLeague({
    leagues: [{ league_id: "rps", game: "rps.v1", options: { best_of: 1 } }],
    players: [{ name: "Ann", bot: "random" }, { name: "Bob", bot: "random" }, absent],
    timeouts: { registration_ms: 1_000 },
  });
  try {
    const { leagues } = await league.completed;
    expect(leagues[0]?.matches.map(({ termination }) => termination)).toEqual(["normal"]);
  } finally {
    vi.restoreAllMocks();
    await league.stop();
  }
});
