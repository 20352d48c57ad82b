import { constants } from "node:buffer";
import { readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { sha256Hex } from "#shared/lib/hash.ts";
import { createRandom } from "#shared/lib/rng.ts";
import { agentLogFile, canonical, leagueLogFile, MANIFEST, matchFile, RUN_FILE } from "../format.ts";
import { filesIn, testExports } from "../testing/exports.ts";
import { rewriteManifest } from "../testing/forgery.ts";
import { plainRun } from "../testing/store.ts";
import { verifyExport } from "./verify.ts";

const exports = testExports();
afterAll(() => exports.remove());
const soundExport = await exports.exported(plainRun);

const faultsAfter = (change: (folder: string) => void) => verifyExport(exports.changed(soundExport, change)).faults;
const R1M1 = matchFile("rps", "R1M1");

describe("verify rejects an export in which", () => {
  it("any byte is changed, and names the file", () => {
    const random = createRandom("bytes");
    for (const file of filesIn(soundExport)) {
      for (let trial = 0; trial < 3; trial++) {
        const faults = faultsAfter((folder) => {
          const bytes = readFileSync(join(folder, file));
          const offset = random.int(0, bytes.length - 1);
          bytes[offset] = (bytes[offset] ?? 0) ^ (1 << random.int(0, 7));
          writeFileSync(join(folder, file), bytes);
        });
        if (file === MANIFEST) expect(faults).not.toEqual([]);
        else expect(faults.map((fault) => fault.file)).toContain(file);
      }
    }
  });

  it.each([R1M1, RUN_FILE, leagueLogFile("rps"), agentLogFile("P02")])("%s is missing", (file) => {
    const faults = faultsAfter((folder) => rmSync(join(folder, file)));
    expect(faults).toContainEqual({ file, message: "is missing" });
    const restamped = faultsAfter((folder) => {
      rmSync(join(folder, file));
      rewriteManifest(folder);
    });
    expect(restamped).toContainEqual({ file, message: "is missing" });
  });

  it("the league file or the manifest does not list a file", () => {
    const faults = faultsAfter((folder) => {
      writeFileSync(join(folder, "agents", "P09.jsonl"), "{}\n");
      rewriteManifest(folder);
    });
    expect(faults).toEqual([{ file: agentLogFile("P09"), message: "is not listed in league.json" }]);
    const unlisted = faultsAfter((folder) => writeFileSync(join(folder, "constructor"), "{}"));
    expect(unlisted).toEqual([{ file: "constructor", message: "is not listed in manifest.json" }]);
  });

  it("a file is a link, and does not follow it", () => {
    const faults = faultsAfter((folder) => {
      rmSync(join(folder, R1M1));
      symlinkSync(join(soundExport, R1M1), join(folder, R1M1));
      for (const name of ["loop", "loop2"]) symlinkSync(folder, join(folder, name));
    });
    for (const file of ["loop", "loop2", R1M1])
      expect(faults).toContainEqual({ file, message: "is a link or another special entry, not a file" });
  });

  it("a file exceeds the maximum length of a string", () => {
    const size = constants.MAX_STRING_LENGTH + 1;
    const faults = faultsAfter((folder) => truncateSync(join(folder, R1M1), size));
    const message = `has ${size} bytes; verify reads at most ${constants.MAX_STRING_LENGTH}`;
    expect(faults.filter(({ file }) => file === R1M1)).toEqual([{ file: R1M1, message }]);
  });

  const EVENT_TYPES =
    '"opened", "reconfigured", "player_entered", "player_left", "started", "round_paired", "pairing_completed", "round_opened", "round_expired", "round_announced", "match_scheduled", "match_assigned", "match_released", "withdrawal_settled", "match_completed", "match_aborted", "match_annulled", "paused", "resumed", "extended", "match_cancelled" or "completed"';
  const deep = `${"[".repeat(3_000)}${"]".repeat(3_000)}`;
  it.each<[string, string, string, string]>([
    ["a document is cut off", R1M1, "{", "not JSON (position 1)"],
    [
      "a document has other spaces",
      R1M1,
      "{}",
      "does not have the form in which export writes it: spaces, line breaks, fields or their order differ",
    ],
    ["a document lacks a field", R1M1, "{}\n", "league_id: is missing"],
    ["a document is empty", R1M1, "", "not JSON: the text ends too early"],
    ["a document is null", R1M1, "null\n", "must be an object, not null"],
    ["a document is nested too deeply", R1M1, deep, "nested too deeply"],
    ["a log is cut off", leagueLogFile("rps"), "{", "its last line is cut off"],
    ["a log has an invalid event", leagueLogFile("rps"), "{}\n", `event 0: type: must be ${EVENT_TYPES}`],
    ["a log has an event that is nested too deeply", leagueLogFile("rps"), `${deep}\n`, "event 0: nested too deeply"],
    ["a log has no events", leagueLogFile("rps"), "", "has no events"],
    ["an agent's log has an invalid event", agentLogFile("P01"), "[]\n", "event 0: must be an object, not a list"],
    [
      "an agent's log has another chain",
      agentLogFile("P01"),
      "",
      "the hash of its last event is not the log_head in league.json: an event was changed, added or removed",
    ],
  ])("%s", (_, file, text, message) => {
    const faults = faultsAfter((folder) => {
      writeFileSync(join(folder, file), text);
      rewriteManifest(folder);
    });
    expect(faults).toContainEqual({ file, message });
  });

  it("the digest does not match the files", () => {
    const faults = faultsAfter((folder) => {
      const manifest = JSON.parse(readFileSync(join(folder, MANIFEST), "utf8"));
      writeFileSync(join(folder, MANIFEST), canonical({ ...manifest, digest: sha256Hex("") }));
    });
    expect(faults).toEqual([{ file: MANIFEST, message: "its digest does not match the files that it lists" }]);
  });
});
