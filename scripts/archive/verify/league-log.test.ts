import { afterAll, describe, expect, it } from "vitest";
import { sha256Hex } from "#shared/lib/hash.ts";
import { agentLogFile, leagueLogFile, RUN_FILE } from "../files.ts";
import { MAX_PLAYERS } from "../format.ts";
import { testExports } from "../testing/exports.ts";
import { forgeFile, forgeRun } from "../testing/forgery.ts";
import { plainRun } from "../testing/store.ts";
import { verifyExport } from "./verify.ts";

const exports = testExports();
afterAll(() => exports.remove());
const sound = await exports.exported(plainRun);

const faultsAfter = (change: (folder: string) => void) => verifyExport(exports.changed(sound, change)).faults;

describe("verify rejects a log in which", () => {
  it("the hashes do not end in the head of the league file", () => {
    const faults = faultsAfter((folder) =>
      forgeFile(folder, RUN_FILE, (run) => (run.leagues[0].log_head = sha256Hex(""))),
    );
    expect(faults).toEqual([
      {
        file: leagueLogFile("rps"),
        message: "its events do not lead to the log_head in league.json: one was changed, added or removed",
      },
    ]);
  });

  it("another agent is registered", () => {
    const faults = faultsAfter((folder) =>
      forgeRun(folder, ({ agents }) => Object.assign(agents.P01?.[0], { agent_id: "P09" })),
    );
    expect(faults).toEqual([{ file: agentLogFile("P01"), message: "event 0: registers P09" }]);
  });

  it("more players enter than a league can have, and does not read further", () => {
    const faults = faultsAfter((folder) =>
      forgeRun(folder, ({ events, league }) => {
        const entered = events.find(({ type }) => type === "player_entered");
        const ids = Array.from({ length: MAX_PLAYERS }, (_, index) => `Q${index}`);
        events.splice(1, 0, ...ids.map((player_id) => ({ ...entered, player_id })));
        for (const player_id of ids) league.players.unshift({ player_id, display_name: player_id, salt: null });
      }),
    );
    const messages = faults.filter(({ file }) => file === leagueLogFile("rps")).map(({ message }) => message);
    expect(messages).toEqual([`event ${MAX_PLAYERS + 1}: a league has at most ${MAX_PLAYERS} players`]);
  });
});
