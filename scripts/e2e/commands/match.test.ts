import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import { cleanUp, type Ended, league, newFolder, root, STACK_LINE, start } from "../../testing/processes.ts";

afterEach(cleanUp);

interface Run {
  readonly folder: string;
  match(...args: string[]): Promise<Ended>;
}

function newRun(): Run {
  const folder = newFolder();
  return { folder, match: (...args) => league(["match", ...args, "--data", folder]) };
}

/** Writes a bot file. Returns its path. */
function botFile(folder: string, name: string, code: string): string {
  const file = join(folder, name);
  writeFileSync(file, code);
  return file;
}

const lastLine = (text: string): string => text.trimEnd().split("\n").at(-1) ?? "";

describe("league match", () => {
  it("prints a table and ends with a sentence that states the result", async () => {
    const { match } = newRun();
    const { code, stdout, stderr } = await match("minimax", "random", "--game", "tic-tac-toe", "--seed", "1");
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^played in \d+ s; logs and results are in \S+\n$/)]);
    expect(stdout).toMatch(
      /^tic_tac_toe\.v1, 100 of 100 games, seed 1\n\n +Won {2}Drawn {2}Lost +Points +Elo {2}Likelihood\n/,
    );
    expect(stdout).toMatch(/\n {2}minimax +\d+ +\d+ +0 +\d+\.\d% \(\d+\.?\d? to \d+\.?\d?\) +\+\d+ \S.* +> 99\.9%\n/);
    expect(lastLine(stdout)).toMatch(
      /^minimax is better than random: \d+\.\d% \(\d+\.?\d? to \d+\.?\d?\) \(likelihood > 99\.9%\)$/,
    );
  });

  it("ends with exit code 1 and names the game file if no game counts, because the rules fail", async () => {
    const { folder, match } = newRun();
    const starter = readFileSync(join(root, "scripts/starters/game/game.ts"), "utf8");
    const file = botFile(folder, "game.ts", starter.replace("[winner]: 1", "[winner]: Number.NaN"));
    const { code, stdout, stderr } = await match("random", "cycle", "--game", file, "--games", "4", "--json");
    expect(code).toBe(1);
    expect(stderr).toContain(`${file}:38: outcome returns a score that is not a finite number: NaN for `);
    const verdict = "not decided: no game counts";
    expect(JSON.parse(stdout)).toMatchObject({ status: "completed", pairs: [{ aborted: 4 }], verdict });
  });

  it("ends a terminal with the sentence, after all notices, also if a report cannot be written", async () => {
    const folder = newFolder();
    const file = botFile(folder, "file", "");
    const together = async (...more: string[]): Promise<string> => {
      const args = ["match", "minimax", "random", "--game", "tic-tac-toe", "--data", folder, ...more];
      const command = [process.execPath, join(root, "scripts/league.ts"), ...args].map((text) => `'${text}'`).join(" ");
      return (await promisify(execFile)("sh", ["-c", `${command} 2>&1; true`])).stdout;
    };
    const printed = await together("--csv", join(folder, "report"));
    expect(printed).toMatch(/standings\.csv\n(.*\n)*played in /);
    expect(lastLine(printed)).toMatch(/^minimax is better than random: /);
    expect(await together("--csv", join(file, "report"))).toMatch(/\nminimax is better than random: .*\n.*report/);
  });

  it("has the same result with the same seed, also over HTTP", async () => {
    const { match } = newRun();
    const args = ["random", "counter", "--option", "best_of=5", "--games", "20", "--seed", "7", "--json", "--quiet"];
    const [first, again, wire] = await Promise.all([match(...args), match(...args), match(...args, "--wire")]);
    expect([first.code, wire.code, first.stderr]).toEqual([0, 0, ""]);
    const document = JSON.parse(first.stdout);
    expect(document).toMatchObject({
      version: 1,
      game: "rps.v1",
      seed: "7",
      mode: "local",
      status: "completed",
      games: { completed: 20, planned: 20 },
      players: [
        { player_id: "P01", name: "random", bot: "random" },
        { player_id: "P02", name: "counter", bot: "counter" },
      ],
    });
    expect(JSON.parse(again.stdout)).toEqual(document);
    expect(JSON.parse(wire.stdout)).toEqual({ ...document, mode: "wire" });
  });

  it("plays games of teams, in which a bot has all roles of its side", async () => {
    const args = ["wordlists", "random", "--game", "codenames", "--games", "4", "--seed", "7", "--json", "--quiet"];
    const [local, wire] = await Promise.all([newRun().match(...args), newRun().match(...args, "--wire")]);
    expect([local.code, local.stderr, wire.stderr]).toEqual([0, "", ""]);
    const document = JSON.parse(local.stdout);
    const [pair] = document.pairs;
    expect(document.players.map(({ name }: { name: string }) => name)).toEqual(["wordlists", "random"]);
    expect(pair.wins + pair.losses).toBe(4);
    expect(pair.wins).toBeGreaterThan(2);
    expect(JSON.parse(wire.stdout)).toEqual({ ...document, mode: "wire" });
  });

  it("rates several bots and prints their crosstable", async () => {
    const { match } = newRun();
    const { stdout } = await match("random", "minimax", "random", "--game", "tic-tac-toe", "--games", "20");
    expect(stdout).toMatch(/^tic_tac_toe\.v1, 60 of 60 games, /);
    expect(stdout).toMatch(
      /\n +Rating +Points {2}Games +1 +2 +3\n {2}1\. minimax +\d+ +± \d+ +\d+\.\d% +40 +\* +\d+-\d+-0 +\d+-\d+-0\n/,
    );
    expect(stdout).toMatch(/\n {2}2\. random [13] +/);
    expect(lastLine(stdout)).toMatch(/^minimax is better than random [13]: /);
  });

  it("ends when a sequential test decides, with an export that can be verified", async () => {
    const { match, folder } = newRun();
    const args = ["minimax", "random", "--game", "connect_four", "--sprt", "elo0=0,elo1=400", "--seed", "3"];
    const { code, stdout } = await match(...args);
    expect([code, lastLine(stdout)]).toEqual([
      0,
      expect.stringMatching(/^H1 accepted: minimax is better than random: /),
    ]);
    expect(stdout).toMatch(/^connect_four\.v1, \d+ games, at most 20000, seed 3\n/);
    const parallel = await newRun().match(...args, "--concurrency", "5");
    expect(parallel.stdout).toBe(stdout);
    const out = join(folder, "export");
    expect(await league(["export", folder, "--out", out])).toMatchObject({ code: 0 });
    const verified = await league(["verify", out]);
    expect([verified.code, verified.stdout]).toEqual([0, expect.stringMatching(/\nverified\n/)]);
  });

  it("plays each opening with both roles and writes the games as PGN", async () => {
    const { match, folder } = newRun();
    const fens = [
      "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq -",
      "rnbqkbnr/ppp1pppp/8/3p4/3P4/8/PPP1PPPP/RNBQKBNR w KQkq -",
    ];
    const book = join(folder, "book.epd");
    writeFileSync(book, ["8/8/8/8/8/8/8/8 w - -", ...fens].map((fen) => `${fen} hmvc 0; fmvn 2;\n`).join(""));
    const games = ["--game", "chess", "--option", "max_plies=20", "--games", "4"];
    games.push("--openings", book, "--openings-order", "sequential");
    const { code, stderr, stdout } = await match("random", "greedy", ...games, "--pgn", join(folder, "report"));
    expect(code, stderr).toBe(0);
    expect(stderr).toMatch(
      /\nplayed in .*\n--openings \S+: one opening is skipped; the first: line 1: Invalid FEN: missing white king\n$/,
    );
    expect(stderr.match(/skipped/g)).toHaveLength(1);
    expect(stdout).toMatch(/\npairs of games with 0, ½, 1, 1½ and 2 points: \d, \d, \d, \d, \d\n/);
    const { stdout: pgn } = await promisify(execFile)("cat", [join(folder, "report", "games.pgn")]);
    const positions = [...pgn.matchAll(/\[FEN "(.*?) \d+ \d+"\]/g)].map(([, fen]) => fen);
    expect([positions[0], positions[2]].sort()).toEqual(fens.toSorted());
    expect([positions[1], positions[3]]).toEqual([positions[0], positions[2]]);
    const out = join(folder, "export");
    await league(["export", folder, "--out", out]);
    expect((await league(["verify", out])).stdout).toMatch(/\nverified\n4 matches replayed/);
  });
});

/** A bot that writes a line when it begins its 30th match. It runs in the process of the command. */
const ANNOUNCING = `
let matches = 0;
export default () => {
  if (++matches === 30) process.stderr.write("thirty matches have begun\\n");
  return { choose: ({ legal, random }) => random.pick(legal) };
};
`;

describe("an interrupted match", () => {
  const ARGS = ["--game", "rps", "--option", "best_of=9", "--seed", "7", "--json"];

  it.each(["SIGKILL", "SIGINT"] as const)(
    "continues after %s with the result of a match without interruption",
    async (signal) => {
      const { match, folder } = newRun();
      const bot = botFile(folder, "bot.mjs", ANNOUNCING);
      const games = [bot, "random", ...ARGS, "--games", "3000", "--trusted"];
      const running = start("scripts/league.ts", ["match", ...games, "--data", folder]);
      await running.line(/^thirty matches have begun$/);
      running.signal(signal);
      const ended = await running.ended;
      if (signal === "SIGINT") {
        expect(ended.code).toBe(130);
        const partial = JSON.parse(ended.stdout);
        expect(partial).toMatchObject({ status: "interrupted", games: { planned: 3000 } });
        expect(partial.games.completed).toBeLessThan(3000);
        expect(lastLine(ended.stderr)).toBe(
          `the match is not complete; continue it with: npm run league -- match --resume --data ${folder}`,
        );
      }
      const other = newRun();
      const [resumed, whole] = await Promise.all([
        match("--resume", "--json", "--quiet"),
        other.match(...games, "--quiet"),
      ]);
      expect([resumed.code, whole.code]).toEqual([0, 0]);
      expect(JSON.parse(resumed.stdout)).toEqual(JSON.parse(whole.stdout));
      const again = await match("--resume");
      expect([again.code, again.stderr]).toEqual([1, expect.stringMatching(/^no unfinished run in /)]);
    },
  );

  it("is not continued by league run", async () => {
    const { folder } = newRun();
    const bot = botFile(folder, "bot.mjs", ANNOUNCING);
    const running = start("scripts/league.ts", [
      "match",
      bot,
      "random",
      ...ARGS,
      "--games",
      "3000",
      "--trusted",
      "--data",
      folder,
    ]);
    await running.line(/^thirty matches have begun$/);
    running.signal("SIGINT");
    await running.ended;
    const config = join(folder, "league.json");
    const players = ["random", "counter"].map((bot) => ({ name: bot, bot }));
    writeFileSync(config, JSON.stringify({ data: folder, players, leagues: [{ league_id: "l", game: "rps.v1" }] }));
    const { code, stderr } = await league(["run", config, "--resume"]);
    expect([code, lastLine(stderr)]).toEqual([1, `no unfinished run in ${join(folder, "runs")}`]);
  });
});

describe("bots of files", () => {
  it.each([
    [
      "in its process",
      "bot.mjs",
      'export default () => {\n  throw new Error("too hard");\n};\n',
      /bot\.mjs:2:9: Error: too hard/,
      [],
    ],
    [
      "in this process",
      "bot.mjs",
      'export default () => {\n  throw new Error("too hard");\n};\n',
      /bot\.mjs:2:9: Error: too hard/,
      ["--trusted"],
    ],
    [
      "of a program",
      "bot.py",
      'import sys\nfor line in sys.stdin:\n    if "turn" in line: raise ValueError("too hard")\n',
      /bot: ValueError: too hard/,
      [],
    ],
  ] as const)("print the first error of a bot, and no further one: %s", async (_, name, code, error, flags) => {
    const { match, folder } = newRun();
    const bot = `failing=${botFile(folder, name, code)}`;
    const ended = await match(bot, "random", "--game", "rps", "--games", "2", ...flags);
    expect(ended.code, ended.stderr).toBe(0);
    const lines = ended.stderr.split("\n").filter((line) => line.includes("by an error of the bot: "));
    expect(lines).toEqual([expect.stringMatching(/^failing lost game R\dM\d by an error of the bot: /)]);
    expect(lines[0]).toMatch(error);
  });

  it("that block their process or end it in one match lose only that match", async () => {
    const { match, folder } = newRun();
    const bot = botFile(
      folder,
      "blocking.mjs",
      `export default class {
         start(info) { this.match = info.matchId; }
         choose({ legal, random }) {
           if (this.match === "R3M1") for (;;);
           if (this.match === "R4M2") process.exit();
           return random.pick(legal);
         }
       }`,
    );
    // On a slow machine, the time limit also passes while the process of the second match is started again and again.
    const { code, stdout, stderr } = await match(bot, "random", "--game", "rps", "--games", "30", "--move-ms", "3000");
    expect(code).toBe(0);
    expect(stderr).toContain("what the bots have written, with their errors, is in ");
    expect(stdout).toMatch(
      /\nforfeits of blocking\.mjs against random, counted as losses: (1 timeout, 1 bot_error|1 bot_error, 1 timeout|2 timeout)\n/,
    );
  });
});

describe("wrong input of league match", () => {
  it.each<[string[], number, string]>([
    [["random"], 2, "league match needs two or more bots: npm run league -- match A B --game rps"],
    [["random", "rando"], 3, 'no bot "rando". Did you mean "random"?'],
    [["random", "random", "--game", "ches"], 2, 'unknown game ches. Did you mean "chess"?'],
    [
      ["random", "random", "--games", "0"],
      2,
      "error: option '--games <n>' argument '0' is invalid. give a whole number of at least 1.",
    ],
    [
      ["random", "random", "--option", "bestof=3"],
      2,
      '--option bestof: unknown option "bestof". Did you mean "best_of"?',
    ],
    [["random", "random", "--sprt", "elo0"], 2, '--sprt elo0: "elo0" is not NAME=VALUE, e.g. elo0=0,elo1=10'],
    [["random", "random", "--sprt", "elo0=5,elo1=1"], 2, "--sprt elo1: elo1 must be more than elo0"],
    [["random", "random", "greedy", "--sprt"], 2, "--sprt compares two bots, not 3; omit --sprt to compare several"],
    [
      ["random", "random", "--openings", "book.txt"],
      2,
      "--openings book.txt: a book is a file with the ending .epd, .fen or .pgn",
    ],
    [
      ["random", "random", "--clock", "fast"],
      2,
      "error: option '--clock <time+increment>' argument 'fast' is invalid. give seconds for all moves and for each move, e.g. 60+1.",
    ],
    [
      ["random", "random", "--pgn"],
      2,
      "--pgn is for chess.v1, and the game is rps.v1; --csv writes tables of any game",
    ],
    [
      ["random", "random", "--openings-order", "sequential"],
      2,
      "--openings-order needs a book: add --openings FILE or omit it",
    ],
    [["random", "manual"], 2, "league match does not support manual players; "],
    [["random", "random", "--trusted", "--wire"], 2, "--trusted needs games in this process: omit --wire"],
    [["random", "random", "--resume"], 2, "--resume continues with the bots of the match: omit the bots"],
  ])("is named: %j", async (args, code, message) => {
    const ended = await newRun().match(...args);
    expect({ code: ended.code, stdout: ended.stdout }).toEqual({ code, stdout: "" });
    expect(ended.stderr.startsWith(message), ended.stderr).toBe(true);
    expect(ended.stderr).not.toMatch(STACK_LINE);
  });

  it("does not include a reader that closes the output early", async () => {
    const script = join(root, "scripts/league.ts");
    const command = `'${process.execPath}' '${script}' match random counter --json --quiet --data '${newFolder()}' | head -1`;
    const { stdout, stderr } = await promisify(execFile)("sh", ["-c", command]);
    expect([stdout, stderr]).toEqual(["{\n", ""]);
  });
});
