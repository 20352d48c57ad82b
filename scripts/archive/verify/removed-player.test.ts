import { afterAll, describe, expect, it } from "vitest";
import { testExports } from "../testing/exports.ts";
import { forgeRun, setForfeitReason } from "../testing/forgery.ts";
import { eventfulRun } from "../testing/store.ts";
import { verifyExport } from "./verify.ts";

const exports = testExports();
afterAll(() => exports.remove());

describe("a player that the operator removed", () => {
  it("is marked as removed in the log of the league and in its forfeits", async () => {
    const folder = await exports.exported(eventfulRun);
    forgeRun(folder, ({ events, matches }) => {
      expect(events.findLast(({ type }) => type === "round_opened").absent).toMatchObject([
        { player_id: "P03", removed: true },
      ]);
      expect(matches.R3M1).toMatchObject({
        reason: "removed_by_operator",
        faults: [{ player_id: "P03", detail: "the operator removed the player" }],
      });
    });
  });

  it("may be marked as shut down, which earlier versions wrote", async () => {
    const folder = await exports.exported(eventfulRun);
    forgeRun(folder, (forgery) => {
      delete forgery.events.findLast(({ type }) => type === "round_opened").absent[0].removed;
      setForfeitReason(forgery, "R3M1", "shut_down", "the player is shut down");
    });
    const { verdict, faults } = verifyExport(folder);
    expect({ verdict, faults }).toEqual({ verdict: "verified except", faults: [] });
  });
});
