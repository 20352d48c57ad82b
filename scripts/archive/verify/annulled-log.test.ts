import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { matchFile } from "../format.ts";
import { type Attempt, expectFault, verifyForged } from "../testing/attempts.ts";
import { testExports } from "../testing/exports.ts";
import { forgeFile } from "../testing/forgery.ts";
import { annulledRun } from "../testing/store.ts";
import { verifyExport } from "./verify.ts";

const exports = testExports();
afterAll(() => exports.remove());

const FILE = matchFile("rps", "R1M1");
const EXCEPTION = {
  file: "leagues/rps.jsonl",
  message: "rps/R1M1 was annulled by the operator: played with the wrong bot",
};

describe("the log of a match that was completed and then annulled", () => {
  it("is exported apart from the result, and verify replays it", async () => {
    const folder = await exports.exported(annulledRun);
    const annulled = JSON.parse(readFileSync(join(folder, FILE), "utf8"));
    expect(annulled).toMatchObject({ termination: "aborted", log_head: "", log: [] });
    expect(annulled.annulled_log.length).toBeGreaterThan(1);
    expect(verifyExport(folder)).toMatchObject({
      verdict: "verified except",
      faults: [],
      exceptions: [EXCEPTION],
      matches: 3,
      withoutLog: [],
    });
  });

  it("is missing in exports of earlier versions, which is not a fault", async () => {
    const folder = await exports.exported(annulledRun);
    forgeFile(folder, FILE, (match) => {
      delete match.annulled_log;
    });
    expect(verifyExport(folder)).toMatchObject({
      verdict: "verified except",
      faults: [],
      exceptions: [EXCEPTION],
      matches: 2,
      withoutLog: ["rps/R1M1"],
    });
  });
});

const swapped = (text: string): string =>
  text.replace(/rock|paper/g, (choice) => (choice === "rock" ? "paper" : "rock"));

const ATTEMPTS: readonly Attempt[] = [
  [
    "has a changed move",
    ({ matches }) => {
      matches.R1M1.annulled_log = matches.R1M1.annulled_log.map(swapped);
    },
    FILE,
    /^annulled_log: log_head is "[0-9a-f]{64}", but the log gives/,
  ],
  [
    "is incomplete",
    ({ matches }) => matches.R1M1.annulled_log.pop(),
    FILE,
    /^annulled_log: the log does not reach the end of the match$/,
  ],
  [
    "differs from the result in the log of the league",
    ({ events }) => {
      const result = events.find(({ type, match_id }) => type === "match_completed" && match_id === "R1M1");
      const [first, second] = Object.keys(result.match_points) as [string, string];
      const points = { [first]: result.match_points[second], [second]: result.match_points[first] };
      const annulment = events.find(({ type }) => type === "match_annulled");
      for (const event of [result, annulment]) event.match_points = points;
    },
    FILE,
    /^annulled_log: match_points is /,
  ],
  [
    "belongs to a match that was not annulled",
    ({ matches }) => {
      matches.R2M1.annulled_log = matches.R2M1.log;
    },
    matchFile("rps", "R2M1"),
    /^has an annulled_log, but the log of the league does not annul/,
  ],
];

it.each(ATTEMPTS)("verify rejects the log of an annulled match that %s", async (_, change, file, message) => {
  expectFault(verifyForged(exports, await exports.exported(annulledRun), change), file, message);
});
