import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { clockFault, startClocks } from "#shared/session/clocks.ts";
import type { Command } from "#shared/session/session.ts";
import { matchFile, RUN_FILE } from "../format.ts";
import { testExports } from "../testing/exports.ts";
import { forgeFile, type Json } from "../testing/forgery.ts";
import { writeStore } from "../testing/store.ts";
import { verifyExport } from "./verify.ts";

const exports = testExports();
afterAll(() => exports.remove());

const CLOCK = { initial_ms: 60_000, increment_ms: 1_000 };
const act = (role: string, action: string, spentMs: number): Command => ({
  type: "act",
  role,
  action,
  expectedTick: null,
  spentMs,
});
const won = [act("player_1", "rock", 1_234), act("player_2", "scissors", 59_999)];
const lostOnTime = (role: string): readonly Command[] => [
  { type: "forfeit", faults: [{ role, ...clockFault(startClocks(CLOCK, [])) }] },
];
let stateOfLoser = "";

/** A completed league of three players with clocks. P03 loses each match on time. */
const sound = await exports.exported((folder) =>
  writeStore(
    folder,
    ["rps"],
    async (run) => {
      await run.start("Ann", "Bob", "Cid");
      for (const _ of [1, 2, 3]) {
        await run.round("rps", ({ players }) => {
          const seat = players.indexOf("P03");
          return seat < 0 ? won : lostOnTime(`player_${seat + 1}`);
        });
      }
      await run.execute((state) => {
        stateOfLoser = JSON.stringify([state.agents.get("P03")?.state, state.agents.get("P03")?.fails]);
        return { ok: true, value: { reply: null } };
      });
      await run.complete("rps");
    },
    { clock: CLOCK },
  ),
);

it("verify accepts the losses on time of a league with clocks, which do not suspend their player", () => {
  expect(verifyExport(sound)).toMatchObject({ verdict: "verified", faults: [], exceptions: [], matches: 3 });
  expect(stateOfLoser).toBe('["ACTIVE",0]');
});

/** The match without P03, which has two actions. */
const MATCH = ["R1M1", "R2M1", "R3M1"]
  .map((matchId) => matchFile("rps", matchId))
  .find((file) => JSON.parse(readFileSync(join(sound, file), "utf8")).log.length === 3) as string;
const played = (change: (match: Json) => void): readonly Json[] =>
  verifyExport(exports.changed(sound, (folder) => forgeFile(folder, MATCH, change))).faults;

it("verify rejects a match with other clocks or another charge than its league and its log", () => {
  expect(played((match) => delete match.clock)).toContainEqual({
    file: MATCH,
    message: "its clocks are not those of the league",
  });
  const forged = played((match) => {
    match.log = match.log.map((text: string) => text.replace('"spent_ms":59999', '"spent_ms":60000'));
  });
  expect(forged).toContainEqual({ file: MATCH, message: "log entry 2: player_2 acted after its time was over" });
});

it("verify rejects a league with other clocks than its log", () => {
  const { faults } = verifyExport(
    exports.changed(sound, (folder) => forgeFile(folder, RUN_FILE, (run) => (run.leagues[0].clock.increment_ms = 0))),
  );
  expect(faults).toContainEqual({ file: RUN_FILE, message: "rps: its field clock differs from its log" });
});
