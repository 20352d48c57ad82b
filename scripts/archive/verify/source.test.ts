import { constants } from "node:buffer";
import { readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { sha256Hex } from "#shared/lib/hash.ts";
import { createRandom } from "#shared/lib/rng.ts";
import { agentLogFile, canonical, leagueLogFile, MANIFEST, matchFile, RUN_FILE } from "../files.ts";
import { filesIn, testExports } from "../testing/exports.ts";
import { restamp } from "../testing/forgery.ts";
import { plainRun } from "../testing/store.ts";
import { verifyExport } from "./verify.ts";

const exports = testExports();
afterAll(() => exports.remove());
const sound = await exports.exported(plainRun);

const faultsAfter = (change: (folder: string) => void) => verifyExport(exports.changed(sound, change)).faults;
const RPS = matchFile("rps", "R1M1");

describe("verify rejects an export in which", () => {
  it("any byte is changed, and names its file", () => {
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

  it.each([RPS, RUN_FILE, leagueLogFile("rps"), agentLogFile("P02")])("%s is missing", (file) => {
    const faults = faultsAfter((folder) => rmSync(join(folder, file)));
    expect(faults).toContainEqual({ file, message: "is missing" });
    const restamped = faultsAfter((folder) => {
      rmSync(join(folder, file));
      restamp(folder);
    });
    expect(restamped).toContainEqual({ file, message: "is missing" });
  });

  it("a file is not listed", () => {
    const faults = faultsAfter((folder) => {
      writeFileSync(join(folder, "agents", "P09.jsonl"), "{}\n");
      restamp(folder);
    });
    expect(faults).toEqual([{ file: agentLogFile("P09"), message: "is not listed in league.json" }]);
    const unlisted = faultsAfter((folder) => writeFileSync(join(folder, "constructor"), "{}"));
    expect(unlisted).toEqual([{ file: "constructor", message: "is not listed in manifest.json" }]);
  });

  it("a file is a link, which it does not follow", () => {
    const faults = faultsAfter((folder) => {
      rmSync(join(folder, RPS));
      symlinkSync(join(sound, RPS), join(folder, RPS));
      for (const name of ["loop", "loop2"]) symlinkSync(folder, join(folder, name));
    });
    for (const file of ["loop", "loop2", RPS])
      expect(faults).toContainEqual({ file, message: "is a link or another special entry, not a file" });
  });

  it("a file is too large for a text", () => {
    const size = constants.MAX_STRING_LENGTH + 1;
    const faults = faultsAfter((folder) => truncateSync(join(folder, RPS), size));
    const message = `has ${size} bytes; verify reads at most ${constants.MAX_STRING_LENGTH}`;
    expect(faults.filter(({ file }) => file === RPS)).toEqual([{ file: RPS, message }]);
  });

  const EVENT_TYPES =
    '"opened", "reconfigured", "player_entered", "player_left", "started", "round_paired", "round_opened", "round_announced", "match_scheduled", "match_assigned", "match_released", "withdrawal_settled", "match_completed", "match_aborted" or "completed"';
  const deep = `${"[".repeat(3_000)}${"]".repeat(3_000)}`;
  it.each<[string, string, string, string]>([
    ["a document is cut off", RPS, "{", "not JSON (position 1)"],
    [
      "a document has other spaces",
      RPS,
      "{}",
      "is not written as export writes it: other spaces or line breaks, other fields or another order of them",
    ],
    ["a document lacks a field", RPS, "{}\n", "league_id: is missing"],
    ["a document is empty", RPS, "", "not JSON: the text ends too early"],
    ["a document is null", RPS, "null\n", "must be an object, not null"],
    ["a document is nested too deeply", RPS, deep, "nested too deeply"],
    ["a log is cut off", leagueLogFile("rps"), "{", "its last line is cut off"],
    ["a log has an invalid event", leagueLogFile("rps"), "{}\n", `event 0: type: must be ${EVENT_TYPES}`],
    ["a log has an event that is nested too deeply", leagueLogFile("rps"), `${deep}\n`, "event 0: nested too deeply"],
    ["a log has no events", leagueLogFile("rps"), "", "has no events"],
    ["an agent's log has an invalid event", agentLogFile("P01"), "[]\n", "event 0: must be an object, not a list"],
    [
      "an agent's log has another chain",
      agentLogFile("P01"),
      "",
      "its events do not lead to the log_head in league.json: one was changed, added or removed",
    ],
  ])("%s", (_, file, text, message) => {
    const faults = faultsAfter((folder) => {
      writeFileSync(join(folder, file), text);
      restamp(folder);
    });
    expect(faults).toContainEqual({ file, message });
  });

  it("the digest is not that of the files", () => {
    const faults = faultsAfter((folder) => {
      const manifest = JSON.parse(readFileSync(join(folder, MANIFEST), "utf8"));
      writeFileSync(join(folder, MANIFEST), canonical({ ...manifest, digest: sha256Hex("") }));
    });
    expect(faults).toEqual([{ file: MANIFEST, message: "its digest is not that of the files that it lists" }]);
  });
});
