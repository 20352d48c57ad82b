import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { gameIds, games } from "#shared/games/registry.ts";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import type { RunningAgent } from "#shared/runtime/agent.ts";
import { requireProgram } from "#shared/runtime/testing/packages.ts";
import {
  callRpc,
  startTestLeague,
  type TestLeague,
  type TestLeagueOptions,
  type TestPlace,
} from "../testing/in-process-league.ts";
import { startHandWrittenPlayer } from "./hand-written-player.ts";

let league: TestLeague | null = null;
const start = async (options: TestLeagueOptions): Promise<TestLeague> => {
  league = await startTestLeague(options);
  return league;
};
afterEach(async () => {
  await league?.stop();
  league = null;
});

/** Starts the TypeScript player, with its token in the folder of the test league. */
const startInFolder = ({ manager, name, port, dataFolder }: TestPlace) =>
  startHandWrittenPlayer(manager, name, port, join(dataFolder, "by-hand.token"));

/** The games of two roles. */
const leagueGames = gameIds.filter((id) => games[id].roles.length === 2);
const leagues = leagueGames.map((game) => ({ league_id: game, game }));

const starter = fileURLToPath(new URL("../starters/py", import.meta.url));
const python = (): string => requireProgram(["/usr/bin/python3"], "python3");

/** The line of the starter with the games of its player. */
const GAMES_LINE = 'GAMES = ["rps.v1"]\n';

/** Copies the starter in Python, with a player of all games of two roles. Returns the file that joins a league. */
function copyStarter(folder: string): string {
  const bot = readFileSync(join(starter, "bot.py"), "utf8");
  expect(bot).toContain(GAMES_LINE);
  writeFileSync(join(folder, "bot.py"), bot.replace(GAMES_LINE, `GAMES = ${JSON.stringify(leagueGames)}\n`));
  copyFileSync(join(starter, "join.py"), join(folder, "join.py"));
  return join(folder, "join.py");
}

/** What the Python players of a test have written to stderr. */
let pythonErrors = "";
afterEach(() => {
  pythonErrors = "";
});

/** Starts the Python player in a separate process. Resolves when it is registered. */
async function startPython({ manager, name, port, dataFolder }: TestPlace): Promise<RunningAgent> {
  const child = spawn(python(), [copyStarter(dataFolder), manager, name, String(port)], {
    cwd: dataFolder,
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stderr.on("data", (text) => {
    pythonErrors += text;
  });
  const ended = once(child, "exit");
  const [line] = await Promise.race([once(child.stdout, "data"), ended]);
  if (!String(line).includes("is registered as")) throw new Error(`the player ended: ${line} ${pythonErrors}`);
  return {
    async stop() {
      child.kill();
      await ended;
    },
  };
}

describe("a player without this package", () => {
  it("has at most 75 lines and imports only modules of Node.js", () => {
    const source = readFileSync(new URL("./hand-written-player.ts", import.meta.url), "utf8");
    expect(source.trimEnd().split("\n").length).toBeLessThanOrEqual(75);
    const imported = [...source.matchAll(/from "([^"]+)"/g)].map(([, from]) => from);
    expect(imported.filter((from) => !from?.startsWith("node:"))).toEqual([]);
  });

  it.each([
    ["TypeScript", startInFolder],
    ["Python", startPython],
  ])("in %s plays every game against a built-in bot to a normal end", async (_, startPlayer) => {
    const { completed } = await start({
      leagues,
      referees: 2,
      players: [
        { name: "By hand", start: startPlayer },
        { name: "Random", bot: "random" },
      ],
    });
    const document = await completed;
    expect(document.leagues.map(({ league_id, status }) => [league_id, status])).toEqual(
      leagueGames.map((game) => [game, "completed"]),
    );
    const matches = document.leagues.flatMap((league) => league.matches);
    expect(matches.map((match) => match.termination)).toEqual(leagueGames.map(() => "normal"));
    expect(matches.map((match) => Object.values(match.roles).sort())).toEqual(leagueGames.map(() => ["P01", "P02"]));
  });

  it.each([
    ["TypeScript", startInFolder, -32700],
    ["Python", startPython, -32603],
  ])("in %s answers a request that is not JSON with HTTP 400 and an error", async (_, startPlayer, code) => {
    const { completed, playerUrls } = await start({
      leagues: [{ league_id: "rps", game: "rps.v1" }],
      players: [
        { name: "By hand", start: startPlayer },
        { name: "Random", bot: "random" },
      ],
    });
    for (const body of ["", "{", '{"jsonrpc"', "\xff"]) {
      const response = await fetch(playerUrls[0] ?? "", { method: "POST", body });
      const error = expect.objectContaining({ code });
      expect([response.status, await response.json()]).toEqual([400, { jsonrpc: "2.0", id: null, error }]);
    }
    expect(pythonErrors).toBe("");
    expect((await completed).leagues[0]?.matches[0]?.termination).toBe("normal");
  });
});

describe("the starter in Python", () => {
  it("joins a league in fewer than 60 lines, with Python's standard library only", () => {
    const source = readFileSync(join(starter, "join.py"), "utf8");
    expect(source.split("\n").length - 1).toBeLessThan(60);
    const imported = [...source.matchAll(/^(?:import|from) (.*?)(?: import .*)?$/gm)].flatMap(([, names = ""]) =>
      names.split(", "),
    );
    const check = `import sys; print(all(m.split(".")[0] in sys.stdlib_module_names for m in ${JSON.stringify(imported.filter((name) => name !== "bot"))}))`;
    expect(imported).toContain("http.server");
    expect(spawnSync(python(), ["-c", check], { encoding: "utf8" }).stdout).toBe("True\n");
  });

  it("prints the stack trace of an error of its bot, and none for a request without the parameters", async () => {
    const { completed, playerUrls } = await start({
      leagues: [{ league_id: "rps", game: "rps.v1" }],
      players: [
        { name: "By hand", start: startPython },
        { name: "Random", bot: "random" },
      ],
    });
    const payload = { match_id: "m", tick: 0, game_state: {}, legal_actions: [], your_role: "player_1" };
    const request = { message_id: "1", type: "MOVE_REQUEST", payload };
    for (const params of [{}, { arguments: { ...request, payload: {} } }, { arguments: request }]) {
      expect(pythonErrors).toBe("");
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
      expect((await fetch(playerUrls[0] ?? "", { method: "POST", body })).status).toBe(400);
    }
    await vi.waitFor(() => expect(pythonErrors).toMatch(/, in choose\n.*IndexError/s), WAIT_OPTIONS);
    await completed;
  });

  it("reuses connections", async () => {
    const { completed, playerUrls } = await start({
      leagues: [{ league_id: "rps", game: "rps.v1" }],
      players: [
        { name: "By hand", start: startPython },
        { name: "Random", bot: "random" },
      ],
    });
    await completed;
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const isReused = (): Promise<boolean> =>
      new Promise((resolve, reject) => {
        const sent = request(playerUrls[0] ?? "", { method: "POST", agent }, (response) =>
          response.resume().on("end", () => resolve(sent.reusedSocket)),
        );
        sent.on("error", reject).end("{}");
      });
    expect([await isReused(), await isReused()]).toEqual([false, true]);
    agent.destroy();
  });
});

describe("a manual player", () => {
  it("plays a complete match with the tool make_move", async () => {
    const { completed, playerUrls } = await start({
      leagues: [{ league_id: "rps", game: "rps.v1", options: { best_of: 3 } }],
      players: [
        { name: "Person", bot: "manual" },
        { name: "Random", bot: "random" },
      ],
    });
    const url = playerUrls[0] ?? "";
    let isOver = false;
    const document = completed.finally(() => {
      isOver = true;
    });
    const moves: string[] = [];
    while (!isOver) {
      const move = ["rock", "paper", "scissors"][moves.length % 3] as string;
      const sent = await vi.waitFor(async () => {
        const result = z
          .object({ isError: z.boolean().optional() })
          .parse(await callRpc(url, "tools/call", { name: "make_move", arguments: { move } }));
        if (result.isError && !isOver) throw new Error("the player has no open request");
        return !result.isError;
      }, WAIT_OPTIONS);
      if (sent) moves.push(move);
    }
    const match = (await document).leagues[0]?.matches[0];
    expect(match).toMatchObject({ termination: "normal", match_id: "R1M1" });
    expect(moves.length).toBeGreaterThanOrEqual(2);
    const read = await league?.match("rps", "R1M1");
    const acted = read?.log.map((text) => JSON.parse(text)).filter((entry) => entry.type === "acted");
    const movesOfPerson = acted?.filter((entry) => match?.roles[entry.role] === "P01").map((entry) => entry.action);
    expect(movesOfPerson).toEqual(moves);
  });
});
