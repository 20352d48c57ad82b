import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { sha256Hex } from "#shared/lib/hash.ts";
import type { RunningAgent } from "#shared/runtime/agent.ts";
import { freePorts } from "#shared/runtime/process/free-ports.ts";
import { silentProcess } from "#shared/runtime/testing/process.ts";
import { matchOf } from "../../../league-manager/league/evolve.ts";
import type { League } from "../../../league-manager/league/league.ts";
import { sessionLog, storedState } from "../../../league-manager/testing/stored-state.ts";
import { startPlayer } from "../../../player/service.ts";
import { startReferee } from "../../../referee/service.ts";
import { SHORT_TIMEOUTS } from "../../testing/in-process-league.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const NAMES = ["A", "B", "C"];
const MATCHES = ["R1M1", "R2M1", "R3M1"];

/** Starts an agent. If a kill of the manager interrupts the registration, starts the agent again. */
const startUntilRegistered = (start: () => Promise<RunningAgent>): Promise<RunningAgent> =>
  start().catch(() => startUntilRegistered(start));

/** Starts three players and a referee in this process. The manager is a separate process that ends at its first commit. */
async function startAgents() {
  const folder = mkdtempSync(join(tmpdir(), "manager-killed-"));
  const dataFolder = join(folder, "data");
  const [managerPort = 0, refereePort = 0, ...playerPorts] = await freePorts(2 + NAMES.length);
  const config = {
    manager: { port: managerPort },
    referees: { count: 1, firstPort: refereePort },
    players: NAMES.map((name) => ({ name, self: true })),
    leagues: [{ league_id: "rps", game: "rps.v1", options: { best_of: 3 } }],
    timeouts: { move_ms: 10_000, join_ms: 10_000 },
  };
  mkdirSync(dataFolder);
  writeFileSync(join(folder, "league.json"), JSON.stringify(config));
  const base = { host: "127.0.0.1", manager: `http://127.0.0.1:${managerPort}/mcp`, dataFolder, ...SHORT_TIMEOUTS };
  const referee = { ...base, name: "Referee 1", ports: [refereePort], maxConcurrentMatches: 1 };
  const players = NAMES.map((name, index) => ({
    name,
    ports: [playerPorts[index] ?? 0],
  }));
  const agents = [
    startUntilRegistered(() => startReferee(referee, silentProcess("referee"))),
    ...players.map((player) =>
      startUntilRegistered(() => startPlayer({ ...base, ...player }, silentProcess(player.name))),
    ),
  ];
  onTestFinished(async () => {
    for (const agent of agents) await (await agent).stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const args = [
    "--config",
    join(folder, "league.json"),
    "--data",
    dataFolder,
    "--roster",
    "--seed",
    sha256Hex("killed"),
  ];
  const preloads = [
    "--require",
    "./shared/runtime/compile-cache.cjs",
    "--import",
    "./scripts/testing/killed-at-commit.ts",
  ];
  const startManager = (): ChildProcess =>
    spawn(process.execPath, [...preloads, "league-manager/main.ts", ...args], { cwd: root, stdio: "ignore" });
  return { dataFolder, startManager };
}

test("a league whose manager is killed after each commit ends with every match recorded once and without a forfeit", async () => {
  const { dataFolder, startManager } = await startAgents();
  const league = async () => (await storedState(dataFolder, ["rps"])).leagues.get("rps");
  let kills = 0;
  do {
    const manager = startManager();
    expect((await once(manager, "exit"))[1]).toBe("SIGKILL");
    kills++;
  } while ((await league())?.status !== "completed");
  expect(kills).toBeGreaterThan(10);
  for (const matchId of MATCHES) {
    const match = matchOf((await league()) as League, matchId);
    expect(match).toMatchObject({ status: "completed", outcome: { termination: "normal" } });
    expect((await sessionLog(dataFolder, "rps", matchId)).log.length).toBeGreaterThan(2);
  }
});
