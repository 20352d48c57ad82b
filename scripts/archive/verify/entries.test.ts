/** Forgers who write events and entries of session logs in ways in which the program does not, and make everything else fit again. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { agentLogFile, leagueLogFile, matchFile, RUN_FILE } from "../files.ts";
import { type TestExports, testExports } from "../testing/exports.ts";
import { type Forgery, forgeFile, forgeRun, forgeSessionLog, type Json, restamp } from "../testing/forgery.ts";
import { plainRun, timedOutRun } from "../testing/store.ts";
import { type Verified, verifyExport } from "./verify.ts";

let exports: TestExports;
let plain: string;
/** P05 does not answer. */
let timedOut: string;
beforeAll(async () => {
  exports = testExports();
  plain = await exports.exported(plainRun);
  timedOut = await exports.exported(timedOutRun);
});
afterAll(() => exports.remove());

function forged(change: (forgery: Forgery) => void): Verified {
  const copy = exports.copyOf(plain);
  forgeRun(copy, change);
  return verifyExport(copy);
}

const LOG = leagueLogFile("rps");
const R1M1 = matchFile("rps", "R1M1");
const firstAnnouncement = ({ events }: Forgery): number => events.findIndex(({ type }) => type === "round_announced");

describe("a forger of events and entries is found out who", () => {
  it.each<[string, (forgery: Forgery) => void, string, RegExp]>([
    [
      "gives an action no time",
      (forgery) => forgeSessionLog(forgery, "R1M1", (text) => text.replace(/"at":".*?"/, '"at":"later"')),
      R1M1,
      /^log entry 0: its time is not ISO 8601/,
    ],
    [
      "gives an event of the league no time",
      ({ events }) => (events[3].at = "2025-02-30T00:00:00.000Z"),
      LOG,
      /^event 3 has no time of the form 2026-01-31T12:00:00.000Z$/,
    ],
    [
      "gives an event of a player no time",
      ({ agents }) => Object.assign(agents.P01?.[1], { at: "" }),
      agentLogFile("P01"),
      /^event 1 has no time of the form 2026-01-31T12:00:00.000Z$/,
    ],
    [
      "leaves out that a round was announced",
      (forgery) => forgery.events.splice(firstAnnouncement(forgery), 1),
      LOG,
      /^event \d+: the league is completed, but round 1 was not announced before that$/,
    ],
    [
      "announces a round after the end",
      (forgery) => forgery.events.push(...forgery.events.splice(firstAnnouncement(forgery), 1)),
      LOG,
      /^event \d+: the league is completed, but round 1 was not announced before that$/,
    ],
  ])("%s", (_, change, file, message) => {
    const { verdict, faults } = forged(change);
    expect(verdict).toBe("not sound");
    const messages = faults.filter((fault) => fault.file === file).map((fault) => fault.message);
    expect(messages).toContainEqual(expect.stringMatching(message));
  });
});

it("a match whose log names other participants is verified except for that", () => {
  const { verdict, faults, exceptions } = forged((forgery) =>
    forgeSessionLog(forgery, "R1M1", (text) => text.replaceAll("@rps/R1M1", "@second/R1M1")),
  );
  const message = "the log of rps/R1M1 does not name its players";
  expect({ verdict, faults, exceptions }).toEqual({
    verdict: "verified except",
    faults: [],
    exceptions: [{ file: R1M1, message }],
  });
});

it("a log that another referee has written with other spaces is verified", () => {
  const { verdict, faults } = forged((forgery) => forgeSessionLog(forgery, "R1M1", (text) => text.replace(",", ", ")));
  expect({ verdict, faults }).toEqual({ verdict: "verified", faults: [] });
});

it("times that go back are no fault, because the clock of a machine can be set back", () => {
  const { verdict, faults, exceptions } = forged(({ events }) => (events[3].at = "2030-01-01T00:00:00.000Z"));
  expect({ verdict, faults, exceptions }).toEqual({ verdict: "verified", faults: [], exceptions: [] });
});

it.each<[string, (text: string) => string]>([
  ["other spaces", (text) => text.replace("{", "{ ")],
  ["a field twice", (text) => text.replace("{", '{"v":2,')],
  ["its fields in another order", (text) => text.replace(/^{"v":1,("at":".*?"),/, '{$1,"v":1,')],
])("an event with %s is a fault of its log", (_, change) => {
  for (const file of [LOG, agentLogFile("P01")]) {
    const folder = exports.copyOf(plain);
    const text = readFileSync(join(folder, file), "utf8");
    writeFileSync(join(folder, file), change(text));
    restamp(folder);
    const message = "event 0 is not written as the manager writes it";
    expect(verifyExport(folder).faults).toContainEqual({ file, message });
  }
});

const reversed = (value: Json): Json => Object.fromEntries(Object.entries(value).reverse());
const P05_LOST = matchFile("rps", "R1M1");

it.each<[string, string, (value: Json) => void]>([
  [
    "a player with other fields first",
    RUN_FILE,
    ({ leagues: [league] }) => (league.players[0] = reversed(league.players[0])),
  ],
  ["a fault with a field of its own", P05_LOST, ({ faults }) => (faults[0].note = "a message")],
  ["a fault with other fields first", P05_LOST, ({ faults }) => (faults[0] = reversed(faults[0]))],
])("%s is a fault of its file", (_, file, change) => {
  const folder = exports.copyOf(timedOut);
  forgeFile(folder, file, change);
  const messages = verifyExport(folder)
    .faults.filter((fault) => fault.file === file)
    .map(({ message }) => message);
  expect(messages).toEqual([expect.stringContaining("is not written as export writes it")]);
});
