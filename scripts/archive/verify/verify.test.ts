import { constants } from "node:buffer";
import { readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sha256Hex } from "#shared/lib/hash.ts";
import { createRandom } from "#shared/lib/rng.ts";
import { leagueSeed } from "../../../league-manager/league/seeds.ts";
import { agentLogFile, canonical, leagueLogFile, MANIFEST, matchFile, RUN_FILE } from "../files.ts";
import { MAX_PLAYERS } from "../format.ts";
import { filesIn, type TestExports, testExports } from "../testing/exports.ts";
import { forgeFile, forgeRun, type Json, restamp } from "../testing/forgery.ts";
import { eventfulRun, plainRun, RUN_SEED, saltOf, timedOutRun, writeStore } from "../testing/store.ts";
import { verifyExport } from "./verify.ts";

let exports: TestExports;
let sound: string;
beforeAll(async () => {
  exports = testExports();
  sound = await exports.exported(plainRun);
});
afterAll(() => exports.remove());

const faultsAfter = (change: (folder: string) => void) => {
  const folder = exports.copyOf(sound);
  change(folder);
  return verifyExport(folder).faults;
};
const RPS = matchFile("rps", "R1M1");

describe("a sound export", () => {
  it("is verified: every match replayed, the standings recomputed", () => {
    const verified = verifyExport(sound);
    expect(verified).toMatchObject({ verdict: "verified", faults: [], exceptions: [], matches: 6, withoutLog: [] });
    expect([...verified.standings].map(([id, rows]) => [id, rows.length])).toEqual([
      ["rps", 3],
      ["second", 3],
    ]);
    expect(verified.unplayed).toEqual(new Map());
  });

  it("has the log of each league and player, the names with their salts, and the seeds of what is over", () => {
    const run = JSON.parse(readFileSync(join(sound, RUN_FILE), "utf8"));
    expect(filesIn(sound)).toEqual(
      expect.arrayContaining([
        leagueLogFile("rps"),
        leagueLogFile("second"),
        ...["P01", "P02", "P03"].map(agentLogFile),
      ]),
    );
    expect(run).toMatchObject({
      format: "agent-league.export.v3",
      seed: RUN_SEED,
      seed_commitment: sha256Hex(RUN_SEED),
    });
    expect(run.leagues[0]).toMatchObject({
      seed: leagueSeed(RUN_SEED, "rps"),
      players: [{ player_id: "P01", display_name: "Ann", salt: saltOf("Ann") }, {}, {}],
    });
  });

  it("counts forfeits that rest on timeouts as matches without a log, and is verified with them", async () => {
    const verified = verifyExport(await exports.exported(timedOutRun));
    expect(verified).toMatchObject({ verdict: "verified", exceptions: [], matches: 9, withoutLog: ["rps/R5M2"] });
  });

  it("is verified except for what rests on the word of the operator or of a referee", async () => {
    const { verdict, faults, exceptions, matches, withoutLog } = verifyExport(await exports.exported(eventfulRun));
    expect({ verdict, faults, matches, withoutLog }).toEqual({
      ...{ verdict: "verified except", faults: [], matches: 2 },
      withoutLog: ["rps/R1M1", "rps/R3M1"],
    });
    expect(exceptions).toEqual([
      { file: leagueLogFile("rps"), message: "rps/R2M2 was added by the operator" },
      { file: leagueLogFile("rps"), message: "P03 is absent from round 3 of rps: the operator removed it" },
      { file: matchFile("rps", "R1M1"), message: "rps/R1M1 was aborted without a log" },
    ]);
  });

  it("of a league that is not over says how much is still to be played, and tells no seed that is still secret", async () => {
    const folder = await exports.exported((folder) =>
      writeStore(folder, ["rps", "second"], async (run) => {
        await run.start("Ann", "Bob", "Cid");
        await run.round("rps");
        for (const _ of [1, 2, 3]) await run.round("second");
        await run.complete("second");
      }),
    );
    expect(verifyExport(folder)).toMatchObject({
      ...{ verdict: "verified except", matches: 4 },
      exceptions: [{ file: RUN_FILE, message: "the seeds of rps cannot be checked before it is completed" }],
    });
    expect(verifyExport(folder).unplayed).toEqual(new Map([["rps", 2]]));
    const { seed, leagues } = JSON.parse(readFileSync(join(folder, RUN_FILE), "utf8"));
    expect([seed, ...leagues.map((one: Json) => one.seed)]).toEqual([null, null, leagueSeed(RUN_SEED, "second")]);
    for (const file of filesIn(folder)) {
      const text = readFileSync(join(folder, file), "utf8");
      for (const secret of [RUN_SEED, leagueSeed(RUN_SEED, "rps")]) expect(text, file).not.toContain(secret);
    }
  });
});

describe("what every file says", () => {
  it.each<[string, (match: Json) => void, RegExp]>([
    [
      "roles",
      (match) => (match.roles = { player_1: "P03", player_2: "P02" }),
      /^roles is .*, but the log of the league has/,
    ],
    ["log", (match) => (match.log = []), /^a result without its log$/],
  ])("a match with other %s is a fault of its file", (_, change, message) => {
    const faults = faultsAfter((folder) => forgeFile(folder, RPS, change));
    const messages = faults.filter((fault) => fault.file === RPS).map((fault) => fault.message);
    expect(messages).toContainEqual(expect.stringMatching(message));
  });

  it("a seed of a league that does not follow from the seed of the run is a fault", () => {
    const faults = faultsAfter((folder) =>
      forgeFile(folder, RUN_FILE, (run) => Object.assign(run, { seed: "x", seed_commitment: sha256Hex("x") })),
    );
    expect(faults).toContainEqual({
      file: RUN_FILE,
      message: "rps: its seed is not the one that the seed of the run gives",
    });
  });

  it("a digest that is not that of the files is a fault of the manifest", () => {
    const faults = faultsAfter((folder) => {
      const manifest = JSON.parse(readFileSync(join(folder, MANIFEST), "utf8"));
      writeFileSync(join(folder, MANIFEST), canonical({ ...manifest, digest: sha256Hex("") }));
    });
    expect(faults).toEqual([{ file: MANIFEST, message: "its digest is not that of the files that it lists" }]);
  });

  it("a log of a league with another chain than it says is a fault of that log", () => {
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

  it("a log of an agent that registers another is a fault of that log", () => {
    const faults = faultsAfter((folder) =>
      forgeRun(folder, ({ agents }) => Object.assign(agents.P01?.[0], { agent_id: "P09" })),
    );
    expect(faults).toEqual([{ file: agentLogFile("P01"), message: "event 0: registers P09" }]);
  });

  it("more players than a league can have are a fault, and the log is not read further", () => {
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

describe("the bytes of an export", () => {
  it("a changed byte anywhere is found and its file named", () => {
    const random = createRandom("bytes");
    for (const file of filesIn(sound)) {
      for (let trial = 0; trial < 3; trial++) {
        const faults = faultsAfter((folder) => {
          const bytes = readFileSync(join(folder, file));
          const place = random.int(0, bytes.length - 1);
          bytes[place] = (bytes[place] ?? 0) ^ (1 << random.int(0, 7));
          writeFileSync(join(folder, file), bytes);
        });
        if (file === MANIFEST) expect(faults).not.toEqual([]);
        else expect(faults.map((fault) => fault.file)).toContain(file);
      }
    }
  });

  it.each([RPS, RUN_FILE, leagueLogFile("rps"), agentLogFile("P02")])("a file that is gone is missed: %s", (file) => {
    const faults = faultsAfter((folder) => rmSync(join(folder, file)));
    expect(faults).toContainEqual({ file, message: "is missing" });
    const restamped = faultsAfter((folder) => {
      rmSync(join(folder, file));
      restamp(folder);
    });
    expect(restamped).toContainEqual({ file, message: "is missing" });
  });

  it("a file that belongs to nothing is named", () => {
    const faults = faultsAfter((folder) => {
      writeFileSync(join(folder, "agents", "P09.jsonl"), "{}\n");
      restamp(folder);
    });
    expect(faults).toEqual([{ file: agentLogFile("P09"), message: "is not listed in league.json" }]);
    const unlisted = faultsAfter((folder) => writeFileSync(join(folder, "constructor"), "{}"));
    expect(unlisted).toEqual([{ file: "constructor", message: "is not listed in manifest.json" }]);
  });

  it("a link is a fault and is not followed", () => {
    const faults = faultsAfter((folder) => {
      rmSync(join(folder, RPS));
      symlinkSync(join(sound, RPS), join(folder, RPS));
      for (const name of ["loop", "loop2"]) symlinkSync(folder, join(folder, name));
    });
    for (const file of ["loop", "loop2", RPS])
      expect(faults).toContainEqual({ file, message: "is a link or another special entry, not a file" });
  });

  it("a file that is too large for a text is named with its size", () => {
    const size = constants.MAX_STRING_LENGTH + 1;
    const faults = faultsAfter((folder) => truncateSync(join(folder, RPS), size));
    const message = `has ${size} bytes; verify reads at most ${constants.MAX_STRING_LENGTH}`;
    expect(faults.filter(({ file }) => file === RPS)).toEqual([{ file: RPS, message }]);
  });

  const EVENT_TYPES =
    '"opened", "reconfigured", "player_entered", "player_left", "started", "round_paired", "round_opened", "round_announced", "match_scheduled", "match_assigned", "match_released", "withdrawal_settled", "match_completed", "match_aborted" or "completed"';
  const deep = `${"[".repeat(3_000)}${"]".repeat(3_000)}`;
  it.each<[string, string, string, string]>([
    ["a document that is cut off", RPS, "{", "not JSON (position 1)"],
    [
      "a document with other spaces",
      RPS,
      "{}",
      "is not written as export writes it: other spaces or line breaks, other fields or another order of them",
    ],
    ["a document of another form", RPS, "{}\n", "league_id: is missing"],
    ["a document that is empty", RPS, "", "not JSON: the text ends too early"],
    ["a document that is null", RPS, "null\n", "must be an object, not null"],
    ["a document that is nested too deeply", RPS, deep, "nested too deeply"],
    ["a log that is cut off", leagueLogFile("rps"), "{", "its last line is cut off"],
    ["a log with text that is no event", leagueLogFile("rps"), "{}\n", `event 0: type: must be ${EVENT_TYPES}`],
    ["a log with an event that is nested too deeply", leagueLogFile("rps"), `${deep}\n`, "event 0: nested too deeply"],
    ["a log without events", leagueLogFile("rps"), "", "has no events"],
    [
      "an agent's log with text that is no event",
      agentLogFile("P01"),
      "[]\n",
      "event 0: must be an object, not a list",
    ],
    [
      "an agent's log with another chain",
      agentLogFile("P01"),
      "",
      "its events do not lead to the log_head in league.json: one was changed, added or removed",
    ],
  ])("%s is a fault of its file", (_, file, text, message) => {
    const faults = faultsAfter((folder) => {
      writeFileSync(join(folder, file), text);
      restamp(folder);
    });
    const messages = faults.filter((fault) => fault.file === file).map((fault) => fault.message);
    expect(messages).toContainEqual(message);
  });

  it.each<[string, (run: Json) => void, string]>([
    [
      "the standings",
      (run: Json) => run.leagues[0].standings[0].points++,
      "the standings of rps are not those that its matches give",
    ],
    [
      "the seed of the run",
      (run: Json) => (run.seed = "another"),
      "the seed of the run is not the one whose hash is its seed_commitment",
    ],
    [
      "no seed of the run",
      (run: Json) => (run.seed = null),
      "every league is completed, but the seed of the run is missing",
    ],
    ["a league twice", (run: Json) => run.leagues.push(run.leagues[0]), "lists a league twice"],
    ["a match twice", (run: Json) => run.leagues[0].matches.push("R1M1"), "lists rps/R1M1 twice"],
    [
      "another agent",
      (run: Json) => run.agents.reverse(),
      "its list of agents is not that of the players of its leagues",
    ],
    [
      "another status",
      (run: Json) => (run.leagues[0].status = "running"),
      "rps: its field status is not what its log gives",
    ],
  ])("%s in the league file is a fault", (_, change, message) => {
    const faults = faultsAfter((folder) => forgeFile(folder, RUN_FILE, change));
    expect(faults).toContainEqual({ file: RUN_FILE, message });
  });
});
