/** Commands that are started through npm end when npm ends. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import {
  agentsIn,
  cleanUp,
  eventually,
  kill,
  processesIn,
  type Running,
  root,
  start,
} from "../../testing/processes.ts";
import { RPS, type TestLeague, testLeague } from "../../testing/test-league.ts";

afterEach(cleanUp);

/** Starts a program with arguments, instead of a script with Node. */
const startLine = (input: "ignore" | "pipe", ...[command = "", ...args]: readonly string[]): Running =>
  start("", [], {}, input, { spawn: (_, options = {}) => spawn(command, args, { ...options, cwd: root }) });

const allProcessesEnd = (test: TestLeague): Promise<void> =>
  eventually("the end of all processes", () => processesIn(test.folder).length === 0);

describe.each([
  ["league serve", (file: string) => ["run", "league", "--", "serve", file]],
  ["npm start", (file: string) => ["start", "--", file, "--keep"]],
  ["a manager", (file: string) => ["run", "manager", "--", "--config", file]],
])("%s, started by npm, ends", (_, args) => {
  it.each(["SIGKILL", "SIGHUP", "SIGTERM"] as const)("when npm gets %s", async (signal) => {
    const test = await testLeague(["cycle", "random"], RPS);
    const npm = startLine("ignore", "npm", ...args(test.file));
    await npm.line(/page is |page at |takes registrations at /i);
    npm.signal(signal);
    await allProcessesEnd(test);
  });
});

describe("league serve at a terminal", () => {
  /** Starts `league serve` in the foreground of a pseudo-terminal, with `script` of util-linux. Resolves when it accepts registrations. */
  const atTerminal = async (test: TestLeague): Promise<Running> => {
    const line = `npm run league -- serve ${test.file} >&2`;
    const terminal = startLine("pipe", "script", "-qec", line, "/dev/null");
    await new Promise<void>((resolve) => {
      let text = "";
      terminal.stdout.on("data", (chunk: string) => {
        text += chunk;
        if (text.includes("takes registrations at ")) resolve();
      });
    });
    return terminal;
  };

  it("ends after Ctrl-C", async () => {
    const test = await testLeague([], RPS);
    const terminal = await atTerminal(test);
    terminal.stdin?.write("\x03");
    await allProcessesEnd(test);
  });

  it("ends when the terminal is closed", async () => {
    const test = await testLeague([], RPS);
    const terminal = await atTerminal(test);
    terminal.signal("SIGKILL");
    await allProcessesEnd(test);
  });
});

describe("league serve in the background", () => {
  it.each([
    ["started by npm", "npm run league -- serve"],
    ["started by Node with the environment of npm", "env npm_lifecycle_event=bg node scripts/league.ts serve"],
  ])("%s continues after the end of its shell", async (_, command) => {
    const test = await testLeague([], RPS);
    const path = `PATH=${join(root, "node_modules/.bin")}:$PATH`;
    // The shell ends when its stdin is closed.
    const line = `${path} nohup setsid ${command} ${test.file} --players 2 </dev/null >/dev/null 2>&1 & echo $!; read _`;
    const shell = startLine("pipe", "sh", "-c", line);
    const [text] = (await once(shell.stdout, "data")) as [string];
    const pid = Number(text);
    const startPlayer = (name: string, port: number): Running => {
      const args = ["--name", name, "--port", String(port), "--data", join(test.folder, name)];
      const manager = `http://127.0.0.1:${test.port}/mcp`;
      return start("scripts/league.ts", ["join", "cycle", ...args, "--manager", manager]);
    };
    const ann = startPlayer("Ann", test.portAt(10));
    await ann.line(/registered as P01/);
    shell.stdin?.end();
    await shell.ended;
    // The start of a player takes longer than the interval at which a process checks its ancestors.
    const bob = startPlayer("Bob", test.portAt(11));
    await bob.line(/rps is over/);
    expect(readFileSync(`/proc/${pid}/stat`, "utf8")).toMatch(/^\d+ \(.*\) [SR] 1 /);
    expect(agentsIn(test.folder)).not.toEqual([]);
    for (const player of [ann, bob]) player.signal("SIGKILL");
    kill(pid, "SIGTERM");
    await allProcessesEnd(test);
  });
});
