import { copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { cleanUp, eventually, league, newFolder, processesIn, root, start } from "../../testing/processes.ts";
import { documentOf, run, runFolders, testLeague } from "../../testing/test-league.ts";

afterEach(cleanUp);

const BOT = join(root, "scripts/starters/py/bot.py");

describe("a Python program with the line protocol", () => {
  it("plays the games of a league without a forfeit, and ends with its player", async () => {
    const folder = newFolder();
    copyFileSync(BOT, join(folder, "bot.py"));
    const python = { command: ["python3", "bot.py"], protocol: "lines", folder };
    const games = ["rps", "chess", "kuhn_poker", "even_odd"];
    const leagues = games.map((game) => ({ league_id: game, game: `${game}.v1` }));
    const test = await testLeague([], leagues, {
      config: {
        players: [
          { name: "Py", ...python },
          { name: "TS", bot: "random" },
        ],
      },
    });
    const ended = await run(test, "--json").ended;
    expect(ended.code, ended.stderr).toBe(0);
    const played = documentOf(ended).leagues.flatMap(({ matches }) => matches);
    expect(played.map(({ termination }) => termination)).toEqual(games.map(() => "normal"));
    await eventually("the end of the programs", () => processesIn(folder).length === 0);
  });

  it("has its lines on stderr in a file for each match", async () => {
    const folder = newFolder();
    const bot = join(folder, "bot.py");
    const lines = [
      "import json, sys",
      "for line in sys.stdin:",
      "    print('read', len(line) > 0, file=sys.stderr, flush=True)",
      "    if json.loads(line)['type'] == 'turn': print(json.dumps({'action': 'rock'}), flush=True)",
    ];
    writeFileSync(bot, `${lines.join("\n")}\n`);
    const leagues = [{ league_id: "rps", game: "rps.v1" }];
    const test = await testLeague([bot, "cycle"], leagues);
    const ended = await run(test, "--json").ended;
    expect(ended.code, ended.stderr).toBe(0);
    const [runFolder = ""] = runFolders(test);
    const log = readFileSync(join(runFolder, "logs/Player1/rps/R1M1.log"), "utf8");
    expect(log).toMatch(/^\d{4}-\S+Z rps R1M1: read True\n/);
    expect(existsSync(join(runFolder, "logs/Player2"))).toBe(false);
  });

  it.each([
    ["", 1],
    ["#matches=one", 6],
  ])(
    "plays the matches of a league one after the other, with the setting %j in %i processes",
    async (setting, processes) => {
      const folder = newFolder();
      const bot = join(folder, "bot.py");
      const log = 'open("pids", "a").write(f"{os.getpid()}\\n")';
      const starter = readFileSync(BOT, "utf8").replace("import json", "import json, os");
      writeFileSync(bot, starter.replace('role = message["role"]', `role = message["role"]; ${log}`));
      const cycles = { format: "round-robin", format_options: { cycles: 6 } } as const;
      const test = await testLeague([`${bot}${setting}`, "cycle"], [{ league_id: "rps", game: "rps.v1", ...cycles }]);
      const ended = await run(test, "--json").ended;
      expect(ended.code, ended.stderr).toBe(0);
      const matches = documentOf(ended).leagues.flatMap((league) => league.matches);
      expect(matches.map(({ termination }) => termination)).toEqual(Array(6).fill("normal"));
      const pids = readFileSync(join(folder, "pids"), "utf8").trim().split("\n");
      expect(pids).toHaveLength(6);
      expect(new Set(pids).size).toBe(processes);
      await eventually("the end of the programs", () => processesIn(folder).length === 0);
    },
  );

  it("ends with the processes of all its games when `league match` is interrupted", async () => {
    const folder = newFolder();
    const bot = join(folder, "bot.py");
    copyFileSync(BOT, bot);
    const args = ["match", bot, bot, "--game", "rps", "--games", "1000000", "--data", newFolder()];
    const match = start("scripts/league.ts", args);
    await eventually("the programs", () => processesIn(folder).length >= 2);
    match.signal("SIGTERM");
    const { code, stderr } = await match.ended;
    expect(code, stderr).toBe(130);
    expect(processesIn(folder)).toEqual([]);
  });

  it("plays the same match for the same seed", async () => {
    const play = () => league(["play", BOT, "counter", "--game", "rps", "--seed", "7"]);
    const [first, second] = [await play(), await play()];
    expect(first.code, first.stderr).toBe(0);
    expect(second.stdout).toBe(first.stdout);
  });
});

describe("a Python program whose imports take longer than a move", () => {
  const READY = 'print(json.dumps({"ready": True}), flush=True)';

  /** Writes a program whose imports last `importS` seconds, and returns the text that selects it as a bot. */
  function slowBot(readyLine: string, importS = 4): string {
    const bot = join(newFolder(), "bot.py");
    const answer = "print(json.dumps({'action': 'rock'}), flush=True)";
    const loop = `for line in sys.stdin:\n    if json.loads(line)['type'] == 'turn': ${answer}`;
    writeFileSync(bot, `import json, sys, time\ntime.sleep(${importS})\n${readyLine}\n${loop}\n`);
    return `lines:/usr/bin/python3 "${bot}"`;
  }

  it.each([
    ["match", "without a ready line", ""],
    ["match", "with a ready line", READY],
    ["play", "without a ready line", ""],
    ["play", "with a ready line", READY],
  ])("plays its first match in `league %s` %s", async (command, _name, readyLine) => {
    const games = command === "match" ? ["--games", "1", "--data", newFolder()] : [];
    const flags = ["--game", "rps", "--move-ms", "2000", "--json", ...games];
    const { code, stdout, stderr } = await league([command, slowBot(readyLine), "cycle", ...flags]);
    expect(code, stderr).toBe(0);
    const { termination, pairs } = JSON.parse(stdout);
    if (command === "play") expect(termination, stderr).toBe("normal");
    else expect(pairs[0].forfeits, stderr).toEqual({ P01: {}, P02: {} });
  });

  it.each([
    ["without a ready line", ""],
    ["with a ready line", READY],
  ])("plays each match of a league of short matches %s", async (_name, readyLine) => {
    const leagues = [
      { league_id: "rps", game: "rps.v1", format: "round-robin", format_options: { cycles: 5 } },
    ] as const;
    const test = await testLeague([slowBot(readyLine, 6), "cycle"], leagues, {
      config: { timeouts: { move_ms: 2_000 } },
    });
    const ended = await run(test, "--json").ended;
    expect(ended.code, ended.stderr).toBe(0);
    const [played] = documentOf(ended).leagues;
    expect(
      played?.matches.map(({ termination }) => termination),
      ended.stderr,
    ).toEqual(Array(5).fill("normal"));
  });
});

describe("a program of a config", () => {
  it("whose file is missing ends the run with exit code 3 and the error of its interpreter", async () => {
    const players = [
      { name: "Sh", command: ["sh", "bto.sh"], protocol: "lines" },
      { name: "TS", bot: "random" },
    ];
    const test = await testLeague([], [{ league_id: "rps", game: "rps.v1" }], { config: { players } });
    const { code, stderr } = await run(test).ended;
    expect(code, stderr).toBe(3);
    expect(stderr).toMatch(/^Sh: sh bto\.sh ended with code \d+ when it was started\nSh: .*bto\.sh/m);
  });
});
