import { afterAll, describe, expect, it } from "vitest";
import { sha256Hex } from "#shared/lib/hash.ts";
import { agentLogFile, leagueLogFile, MAX_PLAYERS, RUN_FILE } from "../format.ts";
import { testExports } from "../testing/exports.ts";
import { forgeFile, forgeRun } from "../testing/forgery.ts";
import { plainRun } from "../testing/store.ts";
import { verifyExport } from "./verify.ts";

const exports = testExports();
afterAll(() => exports.remove());
const soundExport = await exports.exported(plainRun);

const faultsAfter = (change: (folder: string) => void) => verifyExport(exports.changed(soundExport, change)).faults;

describe("verify rejects a log in which", () => {
  it("the last hash is not the log_head of the league file", () => {
    const faults = faultsAfter((folder) =>
      forgeFile(folder, RUN_FILE, (run) => (run.leagues[0].log_head = sha256Hex(""))),
    );
    expect(faults).toEqual([
      {
        file: leagueLogFile("rps"),
        message:
          "the hash of its last event is not the log_head in league.json: an event was changed, added or removed",
      },
    ]);
  });

  it("another agent is registered", () => {
    const faults = faultsAfter((folder) =>
      forgeRun(folder, ({ agents }) => Object.assign(agents.P01?.[0], { agent_id: "P09" })),
    );
    expect(faults).toEqual([{ file: agentLogFile("P01"), message: "event 0: registers P09" }]);
  });

  it("more players enter than the limit, and stops at the first of them", () => {
    const faults = faultsAfter((folder) =>
      forgeRun(folder, ({ events, league }) => {
        const firstEntry = events.find(({ type }) => type === "player_entered");
        const ids = Array.from({ length: MAX_PLAYERS }, (_, index) => `Q${index}`);
        events.splice(1, 0, ...ids.map((player_id) => ({ ...firstEntry, player_id })));
        for (const player_id of ids) league.players.unshift({ player_id, display_name: player_id, salt: null });
      }),
    );
    const messages = faults.filter(({ file }) => file === leagueLogFile("rps")).map(({ message }) => message);
    expect(messages).toEqual([`event ${MAX_PLAYERS + 1}: a league has at most ${MAX_PLAYERS} players`]);
  });
});
