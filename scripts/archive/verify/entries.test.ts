import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { agentLogFile, leagueLogFile, matchFile, RUN_FILE } from "../format.ts";
import { type Attempt, expectFault, messagesOf, verifyForged } from "../testing/attempts.ts";
import { testExports } from "../testing/exports.ts";
import { type Forgery, forgeFile, forgeSessionLog, type Json, rewriteManifest } from "../testing/forgery.ts";
import { plainRun, timedOutRun } from "../testing/store.ts";
import { verifyExport } from "./verify.ts";

const exports = testExports();
afterAll(() => exports.remove());
const plain = await exports.exported(plainRun);
/** An export in which P05 does not answer. */
const timedOut = await exports.exported(timedOutRun);

const LOG = leagueLogFile("rps");
const R1M1 = matchFile("rps", "R1M1");
const firstAnnouncement = ({ events }: Forgery): number => events.findIndex(({ type }) => type === "round_announced");

describe("verify rejects an export in which", () => {
  it.each<Attempt>([
    [
      "an action has no valid time",
      (forgery) => forgeSessionLog(forgery, "R1M1", (text) => text.replace(/"at":".*?"/, '"at":"later"')),
      R1M1,
      /^log entry 0: its time is not ISO 8601/,
    ],
    [
      "an event of the league has no valid time",
      ({ events }) => (events[3].at = "2025-02-30T00:00:00.000Z"),
      LOG,
      /^event 3 has no time of the form 2026-01-31T12:00:00.000Z$/,
    ],
    [
      "an event of a player has no valid time",
      ({ agents }) => Object.assign(agents.P01?.[1], { at: "" }),
      agentLogFile("P01"),
      /^event 1 has no time of the form 2026-01-31T12:00:00.000Z$/,
    ],
    [
      "the announcement of a round is missing",
      (forgery) => forgery.events.splice(firstAnnouncement(forgery), 1),
      LOG,
      /^event \d+: the league is completed before round 1 is announced$/,
    ],
    [
      "a round is announced after the league is completed",
      (forgery) => forgery.events.push(...forgery.events.splice(firstAnnouncement(forgery), 1)),
      LOG,
      /^event \d+: the league is completed before round 1 is announced$/,
    ],
  ])("%s", (_, change, file, message) => {
    expectFault(verifyForged(exports, plain, change), file, message);
  });
});

it("verify reports an exception for a match whose log names other participants", () => {
  const { verdict, faults, exceptions } = verifyForged(exports, plain, (forgery) =>
    forgeSessionLog(forgery, "R1M1", (text) => text.replaceAll("@rps/R1M1", "@second/R1M1")),
  );
  const message = "the log of rps/R1M1 does not name its players";
  expect({ verdict, faults, exceptions }).toEqual({
    verdict: "verified except",
    faults: [],
    exceptions: [{ file: R1M1, message }],
  });
});

it("verify accepts a session log of another program that is written with other spaces", () => {
  const { verdict, faults } = verifyForged(exports, plain, (forgery) =>
    forgeSessionLog(forgery, "R1M1", (text) => text.replace(",", ", ")),
  );
  expect({ verdict, faults }).toEqual({ verdict: "verified", faults: [] });
});

it("verify accepts decreasing times, because the clock of a machine can be set back", () => {
  const { verdict, faults, exceptions } = verifyForged(
    exports,
    plain,
    ({ events }) => (events[3].at = "2030-01-01T00:00:00.000Z"),
  );
  expect({ verdict, faults, exceptions }).toEqual({ verdict: "verified", faults: [], exceptions: [] });
});

it.each<[string, (text: string) => string]>([
  ["other spaces", (text) => text.replace("{", "{ ")],
  ["a duplicate field", (text) => text.replace("{", '{"v":2,')],
  ["its fields in another order", (text) => text.replace(/^{"v":1,("at":".*?"),/, '{$1,"v":1,')],
])("verify rejects an event with %s", (_, change) => {
  for (const file of [LOG, agentLogFile("P01")]) {
    const folder = exports.copyOf(plain);
    const text = readFileSync(join(folder, file), "utf8");
    writeFileSync(join(folder, file), change(text));
    rewriteManifest(folder);
    const message = "event 0 does not have the form in which the manager writes it";
    expect(verifyExport(folder).faults).toContainEqual({ file, message });
  }
});

const reversed = (value: Json): Json => Object.fromEntries(Object.entries(value).reverse());
const P05_LOST = matchFile("rps", "R1M1");

it.each<[string, string, (value: Json) => void]>([
  [
    "a player with another order of fields",
    RUN_FILE,
    ({ leagues: [league] }) => (league.players[0] = reversed(league.players[0])),
  ],
  ["a fault with an unknown field", P05_LOST, ({ faults }) => (faults[0].note = "a message")],
  ["a fault with another order of fields", P05_LOST, ({ faults }) => (faults[0] = reversed(faults[0]))],
])("verify rejects %s", (_, file, change) => {
  const folder = exports.copyOf(timedOut);
  forgeFile(folder, file, change);
  expect(messagesOf(verifyExport(folder), file)).toEqual([
    expect.stringContaining("does not have the form in which export writes it"),
  ]);
});
