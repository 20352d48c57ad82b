import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it, onTestFinished } from "vitest";
import { exportOf } from "../../archive/export-store.ts";
import { writeExport } from "../../archive/format.ts";
import { verifyExport } from "../../archive/verify/verify.ts";
import { startTestLeague, type TestLeague } from "../../testing/in-process-league.ts";

let running: TestLeague | null = null;
afterEach(async () => {
  await running?.stop();
  running = null;
});

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "formats-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Plays a league of these bots over HTTP. Resolves with its results, when verify has accepted its export. */
async function play(format: string, format_options: object, bots: readonly string[]) {
  const players = bots.map((bot, index) => ({ name: `Player ${index + 1}`, bot }));
  const leagues = [{ league_id: "rps", game: "rps.v1", options: { best_of: 1 }, format, format_options }];
  running = await startTestLeague({ leagues, players, maxConcurrentMatches: 4 });
  const [league] = (await running.completed).leagues;
  if (!league) throw new Error("the document has no league");
  expect(league).toMatchObject({ status: "completed", format, format_options });
  const folder = join(temporaryFolder(), "export");
  writeExport(folder, (await exportOf(join(running.dataFolder, "league-manager.sqlite"))).files);
  expect(verifyExport(folder)).toMatchObject({ verdict: "verified", faults: [], exceptions: [] });
  return league;
}

const RANDOM = Array<string>(5).fill("random");

it("a Swiss of five players is played over HTTP: three rounds without rematches, each with one bye", async () => {
  const { matches, standings } = await play("swiss", { rounds: 3 }, RANDOM);
  expect(matches).toHaveLength(6);
  expect(new Set(matches.map(({ roles }) => Object.values(roles).sort().join())).size).toBe(6);
  expect(standings.map(({ played, byes = 0 }) => played + byes)).toEqual(Array(5).fill(3));
  expect(standings.map(({ byes }) => byes).toSorted()).toEqual([0, 0, 1, 1, 1]);
});

it("a single elimination of five players is played over HTTP: each loser plays no more, and the winner of the final is first", async () => {
  const { matches, standings } = await play("single-elimination", { legs: 1 }, RANDOM);
  const final = matches.at(-1);
  const finalists = Object.values(final?.roles ?? {});
  expect(
    standings
      .slice(0, 2)
      .map(({ player_id }) => player_id)
      .sort(),
  ).toEqual([...finalists].sort());
  if (final?.winner) expect(standings[0]?.player_id).toBe(final.winner);
});

it("a sequential test is played over HTTP: it ends when it is decided, and its open matches are cancelled", async () => {
  const folder = temporaryFolder();
  const [paper, rock] = [join(folder, "paper.mjs"), join(folder, "rock.mjs")];
  writeFileSync(paper, 'export default () => "paper";\n');
  // The matches of the first round stay open until the test is decided by the others.
  writeFileSync(
    rock,
    `export default () => {
  let isStuck = false;
  return {
    start: ({ matchId }) => void (isStuck = matchId.startsWith("R1M")),
    choose: () => (isStuck ? new Promise(() => {}) : "rock"),
  };
};
`,
  );
  const { matches, standings, result } = await play("sprt", { elo0: 0, elo1: 400 }, [paper, rock]);
  const cancelled = matches.filter(({ reason }) => reason === "cancelled");
  expect(cancelled.map(({ match_id }) => match_id)).toEqual(expect.arrayContaining(["R1M1", "R1M2"]));
  for (const { termination, points, referee_id } of cancelled)
    expect({ termination, points, referee_id }).toEqual({ termination: "aborted", points: {}, referee_id: null });
  const played = matches.length - cancelled.length;
  expect(standings.map(({ player_id, wins, losses }) => [player_id, wins, losses])).toEqual([
    ["P01", played, 0],
    ["P02", 0, played],
  ]);
  expect(result).toMatchObject({ state: "H1", lower: -2.9444, upper: 2.9444 });
  expect(result?.llr).toBeGreaterThanOrEqual(2.9444);
  expect(result?.text).toMatch(
    /^H1 accepted: Player 1 is better than Player 2: SPRT \d+\.\d\d \(-2\.94, 2\.94\) after/,
  );
});
