import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createRandom } from "#shared/lib/rng.ts";
import { exportedFiles, filesIn, findStore, MANIFEST, matchFile, RUN_FILE, writeExport } from "./export.ts";
import { forge } from "./testing-export.ts";
import { startTestLeague } from "./testing-league.ts";
import { verifyExport } from "./verify.ts";

interface Listed {
  leagues: { matches: string[]; options: { best_of: number } }[];
}

let root: string;
let sound: string;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "league-verify-"));
  sound = join(root, "sound");
  const leagues = [
    { league_id: "rps", game: "rps.v1", options: { best_of: 3 } },
    { league_id: "even-odd", game: "even_odd.v1", options: { variant: "draw" } },
  ];
  const players = ["Ann", "Bob", "Cid"].map((name) => ({ name, bot: "random" }));
  const league = await startTestLeague({ leagues, players });
  try {
    await league.completed;
    writeFileSync(join(league.dataFolder, "config.json"), JSON.stringify({ leagues }));
    writeExport(sound, await exportedFiles(findStore(league.dataFolder)));
  } finally {
    await league.stop();
  }
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** A copy of the sound export, changed, with its faults. */
function faultsAfter(change: (folder: string) => void): ReturnType<typeof verifyExport>["faults"] {
  const folder = mkdtempSync(join(root, "changed-"));
  cpSync(sound, folder, { recursive: true });
  change(folder);
  return verifyExport(folder).faults;
}

describe("league verify", () => {
  test("a sound export: every match replayed, standings recomputed", () => {
    const verified = verifyExport(sound);
    expect(verified.faults).toEqual([]);
    expect(verified.matches).toBe(6);
    expect([...verified.standings.keys()]).toEqual(["rps", "even-odd"]);
  });

  test("a league that was not over says how many of its matches are not there", () => {
    const folder = mkdtempSync(join(root, "open-"));
    cpSync(sound, folder, { recursive: true });
    forge(RUN_FILE, (run: Listed) => {
      for (const league of run.leagues.slice(0, 1)) Object.assign(league, { status: "running", matches: ["R1M1"] });
    })(folder);
    expect(verifyExport(folder).unplayed).toEqual(new Map([["rps", 2]]));
    // The operator may add matches of his own: they are none of those that are missed.
    forge(RUN_FILE, (run: Listed) => {
      for (const league of run.leagues.slice(0, 1)) league.matches = ["R1M1", "R1M2", "R1M3", "R1M4"];
    })(folder);
    expect(verifyExport(folder).unplayed).toEqual(new Map([["rps", 2]]));
    expect(verifyExport(sound).unplayed).toEqual(new Map());
  });

  const unplayed = { log: [], log_head: "" };
  test.each<[string, object, string]>([
    ["points for both", { ...unplayed, termination: "forfeit" }, "lost by who was absent"],
    [
      "a winner nobody knows",
      { ...unplayed, termination: "forfeit", winner: "P77", faults: [] },
      "lost by who was absent",
    ],
    ["a winner of an aborted match", { ...unplayed, termination: "aborted", faults: [] }, "neither winner nor points"],
    ["a normal end", unplayed, "a result without its log"],
  ])("a match without a log that tells of %s", (_, change, message) => {
    const file = matchFile("rps", "R1M1");
    const faults = faultsAfter(forge(file, (match: object) => void Object.assign(match, change)));
    expect(faults.filter((one) => one.file === file).map((one) => one.message)).toEqual([
      expect.stringContaining(message),
    ]);
  });

  test("an export takes the place of one that is there, also of one cut short, and of nothing else", () => {
    const folder = join(root, "again");
    const texts = new Map(filesIn(sound).map((name) => [name, readFileSync(join(sound, name), "utf8")]));
    texts.delete(MANIFEST);
    const older = new Map([...texts, [matchFile("chess", "R1M1"), "{}"]]);
    writeExport(folder, older);
    rmSync(join(folder, RUN_FILE));
    writeExport(folder, texts);
    expect(verifyExport(folder).faults).toEqual([]);
    writeFileSync(join(folder, "homework.txt"), "mine");
    expect(() => writeExport(folder, texts)).toThrow("homework.txt");
    expect(readFileSync(join(folder, RUN_FILE), "utf8")).toBe(texts.get(RUN_FILE));
    const web = mkdtempSync(join(root, "web-"));
    writeFileSync(join(web, MANIFEST), '{"name":"a web application","icons":[]}');
    expect(() => writeExport(web, texts)).toThrow(MANIFEST);
    expect(filesIn(web)).toEqual([MANIFEST]);
  });

  test("a changed byte anywhere is found and its file named", () => {
    const random = createRandom("bytes");
    for (const file of filesIn(sound)) {
      for (let trial = 0; trial < 5; trial++) {
        const faults = faultsAfter((folder) => {
          const bytes = readFileSync(join(folder, file));
          const place = random.int(0, bytes.length - 1);
          bytes[place] = (bytes[place] ?? 0) ^ (1 << random.int(0, 7));
          writeFileSync(join(folder, file), bytes);
        });
        expect(
          faults.some((fault) => fault.file === file || fault.file === MANIFEST),
          file,
        ).toBe(true);
        if (file !== MANIFEST) expect(faults.map((fault) => fault.file)).toContain(file);
      }
    }
  });

  test("a file that is missing or does not belong there is named", () => {
    const missing = { file: matchFile("rps", "R1M1"), message: "is missing" };
    const faults = faultsAfter((folder) => rmSync(join(folder, missing.file)));
    expect(faults.filter(({ file }) => file === missing.file)).toEqual([missing]);
    expect(faultsAfter((folder) => writeFileSync(join(folder, "note.txt"), "x"))).toEqual([
      { file: "note.txt", message: "is not in the manifest" },
    ]);
    expect(faultsAfter((folder) => writeFileSync(join(folder, "constructor"), "x"))).toEqual([
      { file: "constructor", message: "is not in the manifest" },
    ]);
    const list = (folder: string): void => {
      const manifest = JSON.parse(readFileSync(join(folder, MANIFEST), "utf8"));
      manifest.files.constructor = "0".repeat(64);
      writeFileSync(join(folder, MANIFEST), JSON.stringify(manifest));
    };
    expect(faultsAfter(list)).toContainEqual({ file: "constructor", message: "is missing" });
    expect(verifyExport(join(root, "nothing")).faults).toContainEqual({ file: MANIFEST, message: "is missing" });
  });

  const rps = matchFile("rps", "R1M1");
  const deep = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);
  test.each([
    ["not JSON", "\u001b[2J", "not JSON"],
    ["cut", "{", "not JSON (position 1)"],
    ["empty", "", "not JSON: the text ends too early"],
    ["null", "null\n", "must be an object, not null"],
    ["nested too deeply for the stack", deep(200_000), "nested too deeply"],
    ["nested too deeply to be compared", deep(3_000), "nested too deeply"],
  ])("a file that is %s is told in words", (_, text, message) => {
    const faults = faultsAfter((folder) => writeFileSync(join(folder, rps), text));
    expect(faults.filter(({ file }) => file === rps)).toContainEqual({ file: rps, message });
  });

  test("options that are nested too deeply to be compared are a fault of the first file that has them", () => {
    const nest = (one: { options: unknown }): void => {
      one.options = JSON.parse(deep(3_000));
    };
    const faults = faultsAfter((folder) => {
      forge(rps, nest)(folder);
      forge(RUN_FILE, (run: { leagues: { options: unknown }[] }) => run.leagues.slice(0, 1).forEach(nest))(folder);
    });
    expect(faults).toEqual([{ file: RUN_FILE, message: "nested too deeply" }]);
  });

  test.each<[string, (folder: string) => void, string, RegExp]>([
    ["a winner", forge(rps, (match: { winner: string }) => (match.winner = "P09")), rps, /winner is "P09"/],
    ["points", forge(rps, (match: { match_points: object }) => (match.match_points = { P01: 0 })), rps, /match_points/],
    [
      "a termination",
      forge(rps, (match: { termination: string }) => (match.termination = "forfeit")),
      rps,
      /termination/,
    ],
    ["a seed", forge(rps, (match: { seed: string }) => (match.seed = "another")), rps, /seed does not follow/],
    ["a lost entry", forge(rps, (match: { log: string[] }) => match.log.pop()), rps, /does not lead to an end/],
    [
      "an action",
      forge(rps, (match: { log: string[] }) => {
        match.log[1] = String(match.log[1]).replace(/rock|paper|scissors/, "lizard");
      }),
      rps,
      /log entry 1: .*illegal action/,
    ],
    [
      "the standings",
      forge(RUN_FILE, (run: { leagues: { standings: { points: number }[] }[] }) => {
        for (const row of run.leagues[0]?.standings ?? []) row.points++;
      }),
      RUN_FILE,
      /standings of rps/,
    ],
    [
      "the run's seed",
      forge(RUN_FILE, (run: { seed: string }) => (run.seed = "another")),
      RUN_FILE,
      /seed does not match its commitment/,
    ],
    ["a seed that is not told", forge(RUN_FILE, (run: { seed: null }) => (run.seed = null)), RUN_FILE, /is not told/],
    [
      "a match that is listed twice",
      forge(RUN_FILE, (run: Listed) => run.leagues[0]?.matches.push("R1M1")),
      RUN_FILE,
      /lists rps\/R1M1 twice/,
    ],
    [
      "a match left out, its file not",
      forge(RUN_FILE, (run: Listed) => run.leagues[0]?.matches.shift()),
      rps,
      /is no match/,
    ],
    [
      "a match left out of a completed league",
      forge(RUN_FILE, (run: Listed) => run.leagues[0]?.matches.shift()),
      RUN_FILE,
      /rps is completed without R1M1/,
    ],
    [
      "a league left out",
      forge(RUN_FILE, (run: Listed) => run.leagues.pop()),
      matchFile("even-odd", "R1M1"),
      /is no match/,
    ],
    [
      "options",
      forge(RUN_FILE, (run: Listed) => (run.leagues[0] as Listed["leagues"][0]).options.best_of--),
      rps,
      /options/,
    ],
    [
      "a match's options",
      forge(rps, (match: { options: { best_of: number } }) => match.options.best_of--),
      rps,
      /options/,
    ],
    ["a round", forge(rps, (match: { round_id: number }) => (match.round_id = 3)), RUN_FILE, /without R1M1/],
  ])("a forger who mends the manifest is found out by the log: %s", (_, change, file, message) => {
    const faults = faultsAfter(change);
    expect(
      faults
        .filter((fault) => fault.file === file)
        .map((fault) => fault.message)
        .join("\n"),
    ).toMatch(message);
  });
});
