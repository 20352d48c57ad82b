import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
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

const playerInPython = fileURLToPath(new URL("./player.py", import.meta.url));
const python = (): string => requireProgram(["/usr/bin/python3"], "python3");

/** Starts the Python player in a separate process. Resolves when it is registered. */
async function startPython({ manager, name, port, dataFolder }: TestPlace): Promise<RunningAgent> {
  const child = spawn(python(), [playerInPython, manager, name, String(port)], {
    cwd: dataFolder,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  const [line] = await Promise.race([once(child.stdout, "data"), ended]);
  if (!String(line).includes("is registered as")) throw new Error(`the player ended: ${line}`);
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
    ["TypeScript", startInFolder],
    ["Python", startPython],
  ])("in %s answers a request that is not JSON with HTTP 400 and the error -32700", async (_, startPlayer) => {
    const { completed, playerUrls } = await start({
      leagues: [{ league_id: "rps", game: "rps.v1" }],
      players: [
        { name: "By hand", start: startPlayer },
        { name: "Random", bot: "random" },
      ],
    });
    for (const body of ["", "{", '{"jsonrpc"', "\xff"]) {
      const response = await fetch(playerUrls[0] ?? "", { method: "POST", body });
      const error = expect.objectContaining({ code: -32700 });
      expect([response.status, await response.json()]).toEqual([400, { jsonrpc: "2.0", id: null, error }]);
    }
    expect((await completed).leagues[0]?.matches[0]?.termination).toBe("normal");
  });
});

describe("player.py", () => {
  const run = (...args: readonly string[]) => {
    const { status, stdout, stderr } = spawnSync(python(), [playerInPython, ...args], { encoding: "utf8" });
    return { status, stdout, lines: stderr.trimEnd().split("\n") };
  };

  it.each([
    [["http://127.0.0.1:9/mcp", "Ann", "8150", "oak", "more"], "unrecognized arguments: more"],
    [["http://127.0.0.1:9/mcp", "Ann", "none"], "argument port: invalid port value: 'none'"],
    [["http://127.0.0.1:9/mcp", "Ann", "70000"], "argument port: invalid port value: '70000'"],
  ])("exits with 2 and names the wrong argument: %j", (args, fault) => {
    const { status, stdout, lines } = run(...args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(lines).toEqual([expect.stringMatching(/^usage: player\.py /), `player.py: error: ${fault}`]);
  });

  it.each(["http://127.0.0.1:9/mcp", "http://127.0.0.1:none/mcp", "http://["])(
    "exits with 1 and one line if it cannot join the league at %s",
    (manager) => {
      const { status, lines } = run(manager);
      expect(status).toBe(1);
      expect(lines).toEqual([expect.stringContaining(`cannot join the league at ${manager} with port 8150: `)]);
    },
  );

  it("lists its arguments and defaults with --help", () => {
    const { status, stdout } = run("--help");
    expect(status).toBe(0);
    expect(stdout).toMatch(/^usage: player\.py \[-h\] \[manager\] \[name\] \[port\] \[join_code\]\n\nJoins a league/);
    expect(stdout).toContain("(default: http://127.0.0.1:8000/mcp)");
    expect(stdout).toContain("(default: 8150)");
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
