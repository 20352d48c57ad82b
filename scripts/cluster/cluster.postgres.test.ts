import { afterEach, describe, expect, it } from "vitest";
import { cleanUp, start } from "../testing/processes.ts";
import { FAULT_KINDS, type InjectedFault } from "./faults.ts";
import type { ClusterReport } from "./figures.ts";

const SHAPE = ["--players", "12", "--matches", "130", "--managers", "3", "--referees", "2", "--no-compare"];

describe("npm run cluster", () => {
  afterEach(cleanUp);

  it("plays every match once while managers, referees and the database are killed, cut off and stopped", async () => {
    const { code, stdout, stderr } = await start("scripts/cluster/cluster.ts", [...SHAPE, "--seed", "suite"]).ended;
    expect(code, stdout + stderr).toBe(0);
    const { proof }: ClusterReport = JSON.parse(stdout);
    expect(proof).toMatchObject({ faults: [], matches: 130, verified: 130 });
    expect(proof.injected.map(({ kind }: InjectedFault) => kind).toSorted()).toEqual(FAULT_KINDS.toSorted());
    // The last faults may wait for a manager that has healed, until all matches are completed.
    const whilePlaying = proof.injected.filter(({ atMatches }) => atMatches < 130);
    expect(whilePlaying.length).toBeGreaterThanOrEqual(3);
  });
});
