import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterEach, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { freePorts } from "#shared/runtime/process/free-ports.ts";
import { requireProgram } from "#shared/runtime/testing/packages.ts";
import { cleanUp, newFolder, root, start } from "../../testing/processes.ts";
import { inboxProgram, turnsProgram } from "../../testing/python-programs.ts";
import { RPS, run, testLeague } from "../../testing/test-league.ts";

let python = "";
let go = "";
beforeAll(() => {
  python = requireProgram(["/usr/bin/python3"], "python3");
  go = requireProgram(["/usr/bin/go", "/usr/local/go/bin/go"], "golang-go");
});
afterEach(cleanUp);

/** The programs that join a league without this project, as commands in a folder. */
const STARTERS = {
  py(folder: string): readonly string[] {
    for (const name of ["bot.py", "join.py"]) copyFileSync(join(root, "scripts/starters/py", name), join(folder, name));
    return [python, "join.py"];
  },
  go(folder: string): readonly string[] {
    execFileSync(go, ["build", "-o", join(folder, "bot"), "."], { cwd: join(root, "scripts/starters/go") });
    return [join(folder, "bot")];
  },
};

/** Starts a program in a folder. The test ends it. */
function launch(folder: string, [program = "", ...args]: readonly string[]) {
  const child = spawn(program, args, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

/** Resolves with the output of a program that ends by itself. */
async function outputOf(child: ChildProcess) {
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout as NodeJS.ReadableStream),
    text(child.stderr as NodeJS.ReadableStream),
    once(child, "close"),
  ]);
  return { code, stdout, stderr };
}

/** Starts a league of two players with the join code `oak`. */
async function leagueWithJoinCode() {
  const [port = 0] = await freePorts(20);
  const players = ["Ann", "Late"].map((name) => ({ name, self: true }));
  const config = { manager: { port, join_code: "oak" }, referees: { count: 1, firstPort: port + 1 }, players };
  const running = run(await testLeague([], RPS, { config }), "--json");
  await running.line(/^waiting for Ann, Late to register/);
  return { running, port, url: `http://127.0.0.1:${port}` };
}

/** Expects that a player which has been started joins the league, and plays its match against another one, which is returned. */
async function expectMatch(
  stdout: Readable,
  { url, running }: Awaited<ReturnType<typeof leagueWithJoinCode>>,
  folder: string,
) {
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  expect((await lines.next()).value).toBe("Ann is registered as P01; Ctrl-C ends it");
  const manager = ["--manager", `${url}/mcp`, "--join-code", "oak", "--data", folder];
  const late = start("scripts/league.ts", ["join", "random", "--name", "Late", ...manager]);
  expect((await lines.next()).value).toMatch(/^rps R1M1: (won|lost|no winner) \(.+\)$/);
  await running.ended;
  return late;
}

describe.each(["py", "go"] as const)("the starter in %s that joins by itself", (lang) => {
  const prefix = lang === "py" ? "join.py: " : "join: ";

  it("names the address, the port or the argument that is wrong", async () => {
    const folder = newFolder();
    const command = STARTERS[lang](folder);
    const printed = async (...args: readonly string[]): Promise<string> => {
      const { code, stdout, stderr } = await outputOf(launch(folder, [...command, ...args]));
      expect({ code, stdout, lines: stderr.trimEnd().split("\n").length }).toEqual({ code: 1, stdout: "", lines: 1 });
      return stderr;
    };
    const usage = /^usage: .* http:\/\/ADDRESS:8000\/mcp \[NAME \[PORT \[JOIN_CODE\]\]\]\n$/;
    if (lang === "py") expect(await printed()).toMatch(usage);
    const wrong = await printed("127.0.0.1:8000", "Ann");
    expect(wrong).toContain(`${prefix}127.0.0.1:8000 does not begin with http://; usage: `);
    expect(await printed("http://127.0.0.1:9", "Ann")).toMatch(
      `${prefix}cannot reach http://127.0.0.1:9/mcp; check the address, and that the manager is running: `,
    );

    const otherServer = createServer((_, response) => response.writeHead(404).end()).listen(0, "127.0.0.1");
    onTestFinished(() => void otherServer.close());
    await once(otherServer, "listening");
    const { port } = otherServer.address() as AddressInfo;
    const [free] = await freePorts(1);
    expect(await printed(`http://127.0.0.1:${port}`, "Ann", String(free))).toMatch(
      `${prefix}http://127.0.0.1:${port}/mcp does not answer as a league manager`,
    );
    expect(await printed(`http://127.0.0.1:${port}`, "Ann", String(port))).toMatch(
      new RegExp(`^${prefix}cannot listen at port ${port}\\b.*; give another port as the third argument: `),
    );
  });

  it("names the argument for the join code, prints its results and ends with Ctrl-C without an error", async () => {
    const folder = newFolder();
    const command = STARTERS[lang](folder);
    const league = await leagueWithJoinCode();
    const { url, port } = league;
    const args = [url, "Ann", String(port + 10)];
    const rejected = await outputOf(launch(folder, [...command, ...args]));
    expect(rejected).toEqual({
      code: 1,
      stdout: "",
      stderr: `${prefix}the manager has rejected the registration: the join code is missing or wrong: ask the operator for it and give it after the port (over HTTP the field join_code)\n`,
    });
    const joined = launch(folder, [...command, ...args, "oak"]);
    const late = await expectMatch(joined.stdout, league, folder);
    const stderr = text(joined.stderr);
    joined.kill("SIGINT");
    expect(await stderr).toBe("");
    late.signal("SIGTERM");
  });
});

it("a student without this project joins with the two files of the league page, which do not contain the join code", async () => {
  const league = await leagueWithJoinCode();
  const { port, url } = league;
  const folder = newFolder();
  for (const name of ["join.py", "bot.py"]) {
    const file = await (await fetch(`${url}/leagues/rps/${name}`)).text();
    expect(file).not.toContain("oak");
    writeFileSync(join(folder, name), file);
  }
  const usage = await outputOf(launch(folder, [python, "join.py", "Ann", "1", "oak", "more"]));
  expect(usage.stderr).toBe("usage: python3 join.py NAME [PORT [JOIN_CODE]]\n");
  const busy = await outputOf(launch(folder, [python, "join.py", "Ann", String(port), "oak"]));
  expect(busy.stderr).toContain("give another port as the second argument");
  const joined = launch(folder, [python, "join.py", "Ann", String(port + 10), "oak"]);
  const late = await expectMatch(joined.stdout, league, folder);
  late.signal("SIGTERM");
});

it("the Python programs of the documents print why they are rejected, and end", async () => {
  const { url, running } = await leagueWithJoinCode();
  for (const program of [turnsProgram, inboxProgram]) {
    const folder = newFolder();
    writeFileSync(join(folder, "player.py"), program);
    const { code, stdout, stderr } = await outputOf(launch(folder, [python, "player.py", `${url}/mcp`, "Ann"]));
    expect(code).toBe(1);
    expect(stdout + stderr).toMatch(/^.*the join code is missing or wrong: .*\n$/);
  }
  running.signal("SIGINT");
  await running.ended;
});
