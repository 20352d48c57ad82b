import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { text } from "node:stream/consumers";
import { invariant } from "#shared/lib/result.ts";
import { PROJECT } from "./commands.ts";

const NOT_COPIED = new Set([".git", "node_modules", "data"]);

/**
 * Applies the planted changes whose names contain a text to a copy of the program, one at a time. Resolves with true if the comparison of the named part
 * finds each of them, and finds nothing in the copy without a change.
 */
export async function prove(only: string, print: (line: string) => void): Promise<boolean> {
  const changes = PLANTED_CHANGES.filter(({ name }) => name.includes(only));
  invariant(changes.length > 0, `a planted change has "${only}" in its name`);
  const copy = mkdtempSync(join(tmpdir(), "golden-"));
  try {
    cpSync(PROJECT, copy, { recursive: true, filter: (source) => !NOT_COPIED.has(basename(source)) });
    symlinkSync(join(PROJECT, "node_modules"), join(copy, "node_modules"));
    const parts = [...new Set(changes.map(({ part }) => part))];
    const unchanged = await compared(copy, parts);
    print(`${unchanged.code === 0 ? "equal" : "NOT EQUAL"}  without a change: ${parts.join(", ")}`);
    if (unchanged.code !== 0) print(unchanged.output);
    let found = 0;
    for (const change of changes) {
      const line = await foundIn(copy, change);
      if (line !== null) found++;
      print(`${line === null ? "MISSED" : "found "}  ${change.name}: ${line ?? change.part}`);
    }
    print(`${found} of ${changes.length} planted changes are found`);
    return found === changes.length && unchanged.code === 0;
  } finally {
    rmSync(copy, { recursive: true });
  }
}

/** Resolves with the line of the comparison that shows a change, or with null. The copy is without the change afterwards. */
async function foundIn(copy: string, { file, from, to, part, shows }: PlantedChange): Promise<string | null> {
  const path = join(copy, file);
  const original = readFileSync(path, "utf8");
  invariant(original.split(from).length === 2, `${file} contains the text of a planted change once: ${from}`);
  writeFileSync(
    path,
    original.replace(from, () => to),
  );
  const { code, output } = await compared(copy, [part]);
  writeFileSync(path, original);
  if (code !== 1) return null;
  return output.split("\n").find((line) => line.includes(shows)) ?? null;
}

/** Compares parts of a copy with its record. Exit code 1 means that they differ. */
async function compared(
  copy: string,
  parts: readonly string[],
): Promise<{ readonly code: number; readonly output: string }> {
  const args = ["scripts/golden/golden.ts", "compare", "--lines", "1000", "--part", ...parts];
  const child = spawn(process.execPath, args, { cwd: copy, stdio: ["ignore", "pipe", "pipe"] });
  const exited = new Promise<number>((resolve) => child.once("close", (code) => resolve(code ?? -1)));
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const code = await exited;
  // A part that cannot be made ends the comparison with an error, which is not a found difference.
  const isComparison = /^(no difference in|\d+ files? differs?)/m.test(output);
  return isComparison ? { code, output } : { code: -1, output: errors };
}

/** A deliberate change of what others see. Each change replaces `from`, which occurs once in the file, by `to`. */
interface PlantedChange {
  readonly name: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
  /** The part of the record that must find it. */
  readonly part: string;
  /** What the comparison must print besides the name of the file. */
  readonly shows: string;
}

/** The planted changes, at least one for each kind of part. */
const PLANTED_CHANGES: readonly PlantedChange[] = [
  {
    name: "a pairing: the roles of a round of the Berger tables are swapped",
    file: "shared/formats/round-robin.ts",
    from: "index % 2 === 0 ? [seat(top), last] : [last, seat(top)]",
    to: "index % 2 === 1 ? [seat(top), last] : [last, seat(top)]",
    part: "leagues/rps.v1",
    shows: "schedule in",
  },
  {
    name: "a point value: a draw gives no point in the standings",
    file: "shared/standings/standings.ts",
    from: "draws * POINTS.draw",
    to: "draws * POINTS.loss",
    part: "leagues/tic_tac_toe.v1",
    shows: "standings in",
  },
  {
    name: "a tie-break: the Sonneborn-Berger score comes before Buchholz in a Swiss system",
    file: "shared/formats/swiss.ts",
    from: '["points", "buchholz", "sonneborn-berger", "wins"]',
    to: '["points", "sonneborn-berger", "buchholz", "wins"]',
    part: "leagues/kuhn_poker.v1",
    shows: "standings in",
  },
  {
    name: "a rating: the prior of the ratings is narrower",
    file: "shared/statistics/bradley-terry.ts",
    from: "const PRIOR_DEVIATION = 500;",
    to: "const PRIOR_DEVIATION = 499;",
    part: "leagues/even_odd.v1",
    shows: "ratings in",
  },
  {
    name: "a seed: the seed of a league is derived from another text",
    file: "league-manager/league/league.ts",
    from: "hmacBase64Url(runSeed, leagueId)",
    to: "hmacBase64Url(runSeed, leagueId.toUpperCase())",
    part: "leagues/codenames.v1",
    shows: "matches in",
  },
  {
    name: "a field of a message: the time limit of MOVE_REQUEST has another unit",
    file: "referee/match/play-match.ts",
    from: "time_limit_seconds: Math.round(leftMs) / 1000,",
    to: "time_limit_seconds: Math.round(leftMs),",
    part: "messages",
    shows: "messages/chess.v1-native.txt",
  },
  {
    name: "a field of a message of a dialect is missing",
    file: "shared/protocol/dialects/league-v1.ts",
    from: "    your_role,\n  };",
    to: "  };",
    part: "messages",
    shows: "messages/even_odd.v1-league.v1.txt",
  },
  {
    name: "a help text",
    file: "scripts/command-line.ts",
    from: "Remove a player from its leagues.",
    to: "Removes a player from its leagues.",
    part: "help",
    shows: "+Removes a player from its leagues.",
  },
  {
    name: "a tool description",
    file: "league-manager/api/read-operations.ts",
    from: "Returns the standings of a league: rank, points, wins, draws and losses of each player.",
    to: "Returns the standings of a league.",
    part: "servers",
    shows: "servers/manager.txt",
  },
  {
    name: "a description in the OpenAPI document",
    file: "referee/rest/openapi.ts",
    from: "Metrics in the Prometheus text format.",
    to: "Metrics.",
    part: "servers",
    shows: "servers/host.txt",
  },
  {
    name: "a default of the config",
    file: "shared/runtime/config/config.ts",
    from: ".max(100)\n          .default([])",
    to: ".max(101)\n          .default([])",
    part: "config-schema",
    shows: '+          "maxItems": 101',
  },
  {
    name: "a field of a page document is missing",
    file: "league-manager/pages/documents/standings-document.ts",
    from: "points, played, wins, draws, losses };",
    to: "points, played, wins, draws };",
    part: "documents/served",
    shows: "losses",
  },
  {
    name: "verify does not check the result of a match",
    file: "scripts/archive/verify/league-checks.ts",
    from: "for (const message of faults) findings.blame(file, message);",
    to: "",
    part: "verify",
    shows: "verify.txt",
  },
  {
    name: "the log of an annulled match is not exported",
    file: "scripts/archive/stored-run.ts",
    from: "    ...(isAnnulled && { annulled_log: [...log] }),\n",
    to: "",
    part: "exports",
    shows: "matches/parity/R1M1.json",
  },
  {
    name: "a column of a CSV file has another name",
    file: "scripts/archive/reports/write-reports.ts",
    from: '"player_id", "display_name", "points", ...numbers',
    to: '"player", "display_name", "points", ...numbers',
    part: "exports",
    shows: "league,number,player,",
  },
  {
    name: "a figure of a JSON document has fewer digits",
    file: "scripts/match/report.ts",
    from: "rating: rounded(rating)",
    to: "rating: rounded(rating, 1)",
    part: "commands",
    shows: '"rating"',
  },
];
