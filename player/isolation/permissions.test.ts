import { execFileSync } from "node:child_process";
import { existsSync, rmSync, symlinkSync } from "node:fs";
import { open } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { networkInterfaces } from "node:os";
import { dirname } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { esbuildProcesses } from "#shared/web/testing/esbuild-processes.ts";
import { isolatedBots } from "../testing/isolated-bots.ts";
import { playerTurn } from "../testing/turns.ts";
import { codeFilesOf } from "./permissions.ts";

const { shown, pathOf, write, load, begin, beginWith } = isolatedBots();

afterEach(() => void vi.unstubAllEnvs());

describe("a bot file", () => {
  const READ = `
    const { readFileSync } = await import("node:fs");
    return readFileSync(new URL("./other.txt", import.meta.url), "utf8");
  `;

  test("reads no files but those that it imports, unless its player allows it", async () => {
    const other = write("other.txt", "secret");
    await expect((await beginWith(READ)).choose(playerTurn(0))).rejects.toThrow("the bot threw an error");
    expect(shown.at(-1)).toMatch(
      new RegExp(
        `bot\\.ts:\\d+:\\d+: Error: a bot may read only code of its folder and of packages that it imports; --allow-read ${other} allows this file`,
      ),
    );
    expect(await (await beginWith(READ, { read: [dirname(other)] })).choose(playerTurn(0))).toBe("secret");
  });

  test("imports other files, packages and JSON", async () => {
    write("node_modules/dice/package.json", '{ "name": "dice", "type": "module", "exports": "./six.js" }');
    write("node_modules/dice/six.js", "export const six = 6;");
    write("lib/five.ts", "export const five: number = 5;");
    write("lib/three.ts", "export const three = 3;");
    write("four.json", '{ "four": 4 }');
    const file = write(
      "bot.ts",
      `import { six } from "dice";
import { five } from "./lib/five.ts";
import data from "./four.json" with { type: "json" };
import { three } from "./lib/three.ts"; // not used
export default { choose: () => six * 100 + five * 10 + data.four };`,
    );
    const link = pathOf("link.ts");
    symlinkSync(file, link);
    for (const path of [file, link]) expect(await (await begin(await load(path))).choose(playerTurn(0))).toBe(654);
  });

  test.each([
    ["a file that is not code", "data/tokens/player-Ann", ', { with: { type: "text" } }', "data/tokens/player-Ann"],
    ["a file outside of its folder", "../other.ts", "", "../other.ts"],
    ["the target of a symbolic link, which is not code", "link.ts", "", "data/tokens/player-Ann"],
  ])("does not read %s, although it imports it", async (_, path, options, read) => {
    write("ann/data/tokens/player-Ann", '"secret"');
    write("other.ts", "export default 1;");
    symlinkSync("data/tokens/player-Ann", pathOf("ann/link.ts"));
    const source = `
      import { readFileSync } from "node:fs";
      const never = () => import("./${path}"${options});
      export default () => readFileSync(new URL("./${read}", import.meta.url), "utf8");
    `;
    const match = await begin(await load(write("ann/bot.ts", source)));
    await expect(match.choose(playerTurn(0))).rejects.toThrow("the bot threw an error");
    expect(shown.at(-1)).toMatch(/Error: a bot may read only code of its folder and of packages that it imports/);
  });

  test("writes no files, unless its player allows it", async () => {
    const path = pathOf("written.txt");
    const WRITE = `
      const { appendFileSync, readFileSync } = await import("node:fs");
      appendFileSync("${path}", "x");
      return readFileSync("${path}", "utf8");
    `;
    await expect((await beginWith(WRITE)).choose(playerTurn(0))).rejects.toThrow("the bot threw an error");
    expect(shown.at(-1)).toContain(`Error: a bot may write no files; --allow-write ${path} allows this one`);
    expect(await (await beginWith(WRITE, { write: [dirname(path)] })).choose(playerTurn(0))).toBe("x");
  });

  test.each(["./lib/five.ts", "./lib/five.js", "./lib/five"])("imports the file lib/five.ts as %s", async (name) => {
    write("lib/five.ts", 'export { four as five } from "../four.js";');
    write("four.ts", "export const four: number = 4;");
    for (const bot of ["bot.ts", "bot.js"]) {
      const file = write(bot, `import { five } from "${name}";\nexport default { choose: () => five };`);
      expect(await (await begin(await load(file))).choose(playerTurn(0))).toBe(4);
    }
  });

  test("imports the file that a name has, rather than one with another ending", async () => {
    write("five.js", "export const five = 5;");
    write("five.ts", "export const five = 6;");
    const file = write("bot.ts", 'import { five } from "./five.js";\nexport default { choose: () => five };');
    expect(await (await begin(await load(file))).choose(playerTurn(0))).toBe(5);
  });

  test("is told to write `import type` for a type of a package that is not installed, of one that is, and of a file", async () => {
    const file = write("bot.ts", 'import { Bot } from "agent-league";\nexport default (() => 1) satisfies Bot;');
    const advice = 'import type { Bot } from "agent-league"';
    await expect(load(file)).rejects.toThrow(
      `bot.ts:1:21: Could not resolve "agent-league". It has only types: write ${advice}`,
    );
    write("node_modules/agent-league/package.json", '{ "type": "module", "exports": "./sdk.js" }');
    write("node_modules/agent-league/sdk.js", "export {};");
    await expect(load(file)).rejects.toThrow(
      `bot.ts:1: SyntaxError: The requested module 'agent-league' does not provide an export named 'Bot'. If Bot is a type, write: ${advice}`,
    );
    write("moves.ts", "export type Move = number;");
    write("bot.ts", 'import { Move } from "./moves.js";\nexport default (): Move => 1;');
    await expect(load(file)).rejects.toThrow('If Move is a type, write: import type { Move } from "./moves.js"');
  });

  test("names an import that is missing", async () => {
    const file = write("bot.ts", 'import { x } from "./none.ts";\nexport default () => x;');
    await expect(load(file)).rejects.toThrow(`bot.ts does not load: ${file}:1:19: Could not resolve "./none.ts"`);
  });

  test.each([
    [
      "starts no processes",
      'const { execFileSync } = await import("node:child_process"); execFileSync("touch", ["PATH"]);',
    ],
    [
      "starts no threads, which would have all permissions",
      'const { Worker } = await import("node:worker_threads"); new Worker(`require("node:fs").writeFileSync("PATH", "")`, { eval: true });',
    ],
  ])("%s", async (_, statements) => {
    const path = pathOf("written.txt");
    const match = await beginWith(statements.replace("PATH", path));
    await expect(match.choose(playerTurn(0))).rejects.toThrow("the bot threw an error");
    expect(shown.at(-1)).toContain("Error: a bot may not start processes or threads");
    expect(existsSync(path)).toBe(false);
  });

  test.each([
    ["process.kill", "process.kill(process.ppid, 0);"],
    ["process._debugProcess", "(process as any)._debugProcess(process.ppid);"],
    ["os.setPriority", 'const { setPriority } = await import("node:os"); setPriority(process.ppid, 19);'],
    ["v8.setFlagsFromString", 'const v8 = await import("node:v8"); v8.setFlagsFromString("--trace-turbo");'],
  ])("cannot call %s, which affects other processes or writes files", async (name, statements) => {
    await expect((await beginWith(statements)).choose(playerTurn(0))).rejects.toThrow("the bot threw an error");
    expect(shown.at(-1)).toContain(`Error: a bot may not call ${name}`);
  });

  test.each([
    ["os.networkInterfaces", 'return (await import("node:os")).networkInterfaces();'],
    ["os.networkInterfaces", 'return process.getBuiltinModule("node:os").networkInterfaces();'],
    ["os.userInfo", 'return (await import("node:os")).userInfo();'],
    ["dns.getServers", 'return (await import("node:dns")).getServers();'],
    ["dns.Resolver", 'const { Resolver } = await import("node:dns"); return new Resolver().getServers();'],
    ["dns.promises.getServers", 'return (await import("node:dns/promises")).getServers();'],
    [
      "dns.promises.Resolver",
      'const { Resolver } = await import("node:dns/promises"); return new Resolver().getServers();',
    ],
  ])("cannot call %s, which tells the addresses of the machine or its user: %s", async (name, statements) => {
    await expect((await beginWith(statements)).choose(playerTurn(0))).rejects.toThrow("the bot threw an error");
    expect(shown.at(-1)).toContain(`Error: a bot may not call ${name}`);
  });

  test.each([{}, { net: true }])(
    "gets no report and no name of the machine, with the permissions %j",
    async (allow) => {
      const show = `
      const { hostname } = await import("node:os");
      const { report } = await import("node:process");
      try { Object.defineProperty(process, "report", { configurable: true }); } catch {}
      Reflect.deleteProperty(process, "report");
      return [process.report ?? null, report ?? null, Object.getPrototypeOf(process).report ?? null, hostname()];
    `;
      expect(await (await beginWith(show, allow)).choose(playerTurn(0))).toEqual([null, null, null, "localhost"]);
    },
  );

  test("that may use the network may read the addresses of the machine", async () => {
    const show = 'return Object.keys((await import("node:os")).networkInterfaces());';
    const names = await (await beginWith(show, { net: true })).choose(playerTurn(0));
    const [loopback] = Object.entries(networkInterfaces()).find(([, addresses]) => addresses?.[0]?.internal) ?? [];
    expect(names).toContain(loopback);
  });

  test.each([
    ["the inspector", 'const { Session } = await import("node:inspector"); new Session().connect();'],
    ["internal modules of Node", '(process as any).binding("os");'],
    ["a snapshot of the memory in a file", `(await import("node:v8")).writeHeapSnapshot("x.heapsnapshot");`],
  ])("has no access to %s", async (_, statements) => {
    await expect((await beginWith(statements)).choose(playerTurn(0))).rejects.toThrow("the bot threw an error");
    expect(existsSync("x.heapsnapshot")).toBe(false);
  });

  test("cannot open a database of SQLite, to which Node's permissions do not apply", async () => {
    const open = `new (process.getBuiltinModule("node:sqlite").DatabaseSync)("${pathOf("x.db")}");`;
    await expect((await beginWith(open)).choose(playerTurn(0))).rejects.toThrow("the bot threw an error");
    expect(existsSync(pathOf("x.db"))).toBe(false);
  });

  test("in a folder that is a symbolic link imports its files", async () => {
    write("real/five.ts", "export const five = 5;");
    write("real/bot.ts", 'import { five } from "./five.ts"; export default () => five;');
    symlinkSync(pathOf("real"), pathOf("link"));
    expect(await (await begin(await load(pathOf("link/bot.ts")))).choose(playerTurn(0))).toBe(5);
  });

  test("may not have an asterisk in its path, which allows Node.js to read other files", async () => {
    const file = write("a*/bot.ts", "export default () => 1;");
    await expect(load(file)).rejects.toMatchObject({
      message: expect.stringContaining("may not contain *"),
      exitCode: 3,
    });
  });

  test("uses the network only if its player allows it", async () => {
    const server = createServer((_, response) => void response.end("hello"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const fetching = `return (await fetch("http://127.0.0.1:${(server.address() as AddressInfo).port}/")).text();`;
    try {
      await expect((await beginWith(fetching)).choose(playerTurn(0))).rejects.toThrow("the bot threw an error");
      const hint = "Error: a bot may not use the network; --allow-net allows it";
      expect(shown.at(-1)).toMatch(new RegExp(`bot\\.ts:1:\\d+: ${hint}$`));
      expect(await (await beginWith(fetching, { net: true })).choose(playerTurn(0))).toBe("hello");
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });

  test.each([
    ["127.0.0.1:1/", "TypeError: fetch failed: bad port"],
    ["127.0.0.1:65535/", "TypeError: fetch failed: connect ECONNREFUSED 127.0.0.1:65535"],
  ])("sees the cause of an error of the network: %s", async (address, message) => {
    const match = await beginWith(`await fetch("http://${address}");`, { net: true });
    await expect(match.choose(playerTurn(0))).rejects.toThrow("the bot threw an error");
    expect(shown).toEqual([expect.stringContaining(message)]);
  });

  test("gets no environment variables that may be secret, unless its player allows it", async () => {
    vi.stubEnv("LEAGUE_TOKEN", "t0");
    vi.stubEnv("MY_KEY", "k0");
    const show =
      "return [process.env.LEAGUE_TOKEN ?? null, process.env.MY_KEY ?? null, process.env.PATH !== undefined];";
    expect(await (await beginWith(show)).choose(playerTurn(0))).toEqual([null, null, true]);
    expect(await (await beginWith(show, { env: ["MY_KEY"] })).choose(playerTurn(0))).toEqual([null, "k0", true]);
  });

  test("cannot disturb the player with forged messages", async () => {
    const match = await beginWith(`
      const { writeSync } = await import("node:fs");
      const messages = [null, { type: "answer", id: 99 }, { type: "log" }, { type: "threw", id: 0 }, { cmd: "NODE_HANDLE" }];
      for (const message of messages) writeSync(4, JSON.stringify(message) + "\\n");
      writeSync(4, "no JSON\\n" + "x".repeat(2_000_000) + "\\n");
      return "ok";
    `);
    expect(await match.choose(playerTurn(0))).toBe("ok");
  });

  test("with a top-level await that does not end is an error of the file", async () => {
    const file = write("bot.ts", "await new Promise(() => {}); export default () => 1;");
    await expect(load(file)).rejects.toMatchObject({
      message: "bot.ts does not load: an await at the top level of the bot does not end",
      exitCode: 3,
    });
  });

  test("that ends its process while it loads is an error of the file", async () => {
    await expect(load(write("bot.ts", "process.exit(4);"))).rejects.toMatchObject({
      message: "bot.ts does not load: the bot's process ended with code 4",
      exitCode: 3,
    });
  });
});

test("the search for the files of a bot reports the end of the helper process, and the next search has a result", async () => {
  const file = write("bot.ts", 'import { one } from "./one.ts"; export default () => one;');
  execFileSync("mkfifo", [pathOf("one.ts")]);
  const outcome = Promise.allSettled([codeFilesOf(file)]);
  const pipe = await open(pathOf("one.ts"), "w"); // resolves when the helper process reads the file
  for (const helper of esbuildProcesses()) process.kill(helper, "SIGKILL");
  expect(await outcome).toMatchObject([{ reason: { message: expect.stringContaining("The service was stopped") } }]);
  await pipe.close();
  rmSync(pathOf("one.ts"));
  write("one.ts", "export const one = 1;");
  expect(await codeFilesOf(file)).toMatchObject({ fault: null });
});
