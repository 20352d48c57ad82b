import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import type { GameResult } from "#shared/protocol/messages.ts";
import { BotPermissions } from "#shared/runtime/bot-permissions.ts";
import type { BotHome, LoadedBot, MatchBot } from "../loaded-bot.ts";
import type { Turn } from "../sdk.ts";
import { botHome } from "../testing/home.ts";
import { matchInfo, playerTurn } from "../testing/turns.ts";
import { isolatedBot } from "./isolated-bot.ts";

let folder = "";
let bots: LoadedBot[] = [];
/** The lines of the matches and those of the player. */
let shown: string[] = [];
let warned: string[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "isolated-"));
  bots = [];
  shown = [];
  warned = [];
});
afterEach(async () => {
  for (const bot of bots) await bot.close?.();
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

function write(name: string, source: string): string {
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, source);
  return file;
}

async function load(file: string, allow: Partial<BotPermissions> = {}, home: Partial<BotHome> = {}) {
  const warn = (line: string): void => void warned.push(line);
  const bot = await isolatedBot(
    file,
    "bot.ts",
    systemClock,
    botHome({ warn, allow: BotPermissions.parse(allow), ...home }),
  );
  bots.push(bot);
  return bot;
}

async function begin(bot: LoadedBot): Promise<MatchBot> {
  const match = bot.create((line) => void shown.push(line));
  await match.start?.(matchInfo());
  return match;
}

/** A bot with the statements of `choose`, in which `turn` is the turn. It begins a match. */
const beginWith = async (statements: string, allow: Partial<BotPermissions> = {}): Promise<MatchBot> =>
  begin(await load(write("bot.ts", `export default { async choose(turn: any) { ${statements} } };`), allow));

const SHORT = { limitMs: 100 };

describe("a turn", () => {
  test("has the view, the legal actions, the history, the clock and the same random numbers as in the player", async () => {
    const match = await beginWith(`
      const { role, view, legal, tick, history, rejection, clock, random } = turn;
      turn.log("thinking");
      return { role, view, legal, tick, history, rejection, left: clock.remainingMs() > 29_000, at: clock.deadline, n: [random.int(1, 1e9), random.int(1, 1e9)] };
    `);
    const history = [{ tick: 0, view: { round: 1 }, action: "rock" }] as unknown as Turn["history"];
    const turn = playerTurn(1, { history });
    const { role, view, legal, tick, rejection } = turn;
    const given = { role, view, legal, tick, history, rejection, left: true, at: turn.clock.deadline.toISOString() };
    const n = [turn.random.int(1, 1e9), turn.random.int(1, 1e9)];
    expect(await match.choose(playerTurn(1, { history }))).toMatchObject({ ...given, at: expect.any(String), n });
    expect(shown).toEqual(["thinking"]);
  });

  test("has the whole history in each turn, also after a new process", async () => {
    const match = await beginWith(
      'if (turn.tick === 2) process.exit(3); return turn.history.map((one: any) => one.action).join("");',
    );
    const history = ["a", "b", "c"].map((action, tick) => ({ tick, view: {}, action })) as unknown as Turn["history"];
    const turnAt = (tick: number): Turn => playerTurn(tick, { history: history.slice(0, tick) });
    expect(await match.choose(turnAt(0))).toBe("");
    expect(await match.choose(turnAt(1))).toBe("a");
    await expect(match.choose(turnAt(2))).rejects.toThrow("the bot's process ended with code 3");
    expect(await match.choose(turnAt(3))).toBe("abc");
  });

  test("is aborted when its time is over", async () => {
    const match = await beginWith(`
      await new Promise((resolve) => turn.signal.addEventListener("abort", resolve));
      return turn.signal.reason.name;
    `);
    expect(await match.choose(playerTurn(0, SHORT))).toBe("AbortError");
  });

  test("keeps lines of stdout and stderr with the match, and those outside of a match with the player", async () => {
    const file = write(
      "bot.ts",
      'console.log("loading"); export default (_: unknown) => { console.log("out"); console.error("err"); };',
    );
    const match = await begin(await load(file));
    await match.choose(playerTurn(0));
    await vi.waitFor(() => expect([...shown].sort()).toEqual(["err", "out"]));
    expect(warned).toEqual(["loading"]);
  });
});

describe("a bot loses one turn, and plays the next one in a new process, if it", () => {
  test.each([
    ["loops forever", "while (true);", "the bot blocked its process for longer than its time limit"],
    ["ends its process", "process.exit(0);", "the bot's process ended with code 0"],
    [
      "throws in a timer",
      "setTimeout(() => { throw new Error(); }); await new Promise(() => {});",
      "ended with code 1",
    ],
    [
      "fills the memory with objects",
      "const all = []; while (true) all.push(new Array(1e6).fill(1.5));",
      "ended by SIGKILL",
    ],
    [
      "fills the memory with buffers",
      "const all = []; while (true) all.push(Buffer.alloc(1e7, 1));",
      "ended by SIGKILL",
    ],
  ])("%s", async (fault, statements, reason) => {
    const limitMs = fault === "loops forever" ? 100 : 30_000;
    const match = await beginWith(`if (turn.tick === 1) { ${statements} } return turn.tick;`, { memory_mb: 300 });
    expect(await match.choose(playerTurn(0))).toBe(0);
    await expect(match.choose(playerTurn(1, { limitMs }))).rejects.toThrow(reason);
    expect(await match.choose(playerTurn(2))).toBe(2);
    expect(shown.at(-1)).toContain(reason);
    if (fault.includes("memory"))
      expect(shown[0]).toBe("the bot uses more than 300 MB of memory; its process is ended");
  });

  test("blocks: a turn that is requested before the process has ended is not lost", async () => {
    const match = await beginWith(`
      if (turn.tick === 0) turn.log("blocks");
      while (turn.tick === 0);
      return turn.tick;
    `);
    const blocked = match.choose(playerTurn(0, SHORT));
    await vi.waitFor(() => expect(shown).toEqual(["blocks"]));
    const next = match.choose(playerTurn(1));
    await expect(blocked).rejects.toThrow("blocked");
    expect(await next).toBe(1);
  });
});

test("a bot that blocks one match plays its other matches", async () => {
  const file = write("bot.ts", "export default (turn: any) => { while (turn.tick === 0); return turn.tick; };");
  const bot = await load(file);
  const [one, other] = [await begin(bot), await begin(bot)];
  const blocked = one.choose(playerTurn(0, { limitMs: 500 }));
  expect(await other.choose(playerTurn(7))).toBe(7);
  await expect(blocked).rejects.toThrow("blocked");
});

test("matches in a row are played by one process, whose module keeps its state", async () => {
  const file = write("bot.ts", "let n = 0; export default { choose: () => ++n };");
  const bot = await load(file);
  for (const expected of [1, 2, 3]) {
    const match = await begin(bot);
    expect(await match.choose(playerTurn(0))).toBe(expected);
    await match.end?.({} as GameResult);
  }
});

test("twenty matches at a time share eight processes", async () => {
  const bot = await load(write("bot.ts", "export default { choose: () => process.pid };"));
  const matches = await Promise.all(Array.from({ length: 20 }, () => begin(bot)));
  const pids = await Promise.all(matches.map((match) => match.choose(playerTurn(0))));
  expect(new Set(pids).size).toBe(8);
  for (const match of matches) match.close?.();
});

test("errors of start and end are shown, and the match goes on", async () => {
  const source = `export default {
  start() { throw new Error("no start"); },
  choose: () => 1,
  end() { throw new Error("no end"); },
};`;
  const file = write("bot.ts", source);
  const match = await begin(await load(file));
  expect(await match.choose(playerTurn(0))).toBe(1);
  await match.end?.({} as GameResult);
  expect(shown).toEqual([`${file}:2:19: Error: no start`, `${file}:4:17: Error: no end`]);
});

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
        `bot\\.ts:\\d+:\\d+: Error: a bot may read only the files that it imports; --allow-read ${other} allows it`,
      ),
    );
    expect(await (await beginWith(READ, { read: [folder] })).choose(playerTurn(0))).toBe("secret");
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
    const link = join(folder, "link.ts");
    symlinkSync(file, link);
    for (const path of [file, link]) expect(await (await begin(await load(path))).choose(playerTurn(0))).toBe(654);
  });

  test("names an import that is missing", async () => {
    const file = write("bot.ts", 'import { x } from "./none.ts";\nexport default () => x;');
    await expect(load(file)).rejects.toThrow(`bot.ts does not load: ${file}:1:19: Could not resolve "./none.ts"`);
  });

  test.each([
    ["writes no files", 'const fs = await import("node:fs"); fs.writeFileSync("PATH", "");'],
    [
      "starts no processes",
      'const { execFileSync } = await import("node:child_process"); execFileSync("touch", ["PATH"]);',
    ],
    [
      "starts no threads, which would have all permissions",
      'const { Worker } = await import("node:worker_threads"); new Worker(`require("node:fs").writeFileSync("PATH", "")`, { eval: true });',
    ],
    ["sends no signals", "process.kill(process.ppid, 0);"],
  ])("%s", async (_, statements) => {
    const path = join(folder, "written.txt");
    const match = await beginWith(statements.replace("PATH", path));
    await expect(match.choose(playerTurn(0))).rejects.toThrow("the bot threw an error");
    expect(shown.at(-1)).toContain("Error: a bot may not write files, start processes or send signals");
    expect(existsSync(path)).toBe(false);
  });

  test("uses the network only if its player allows it", async () => {
    const server = createServer((_, response) => void response.end("hello"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const fetching = `return (await fetch("http://127.0.0.1:${(server.address() as AddressInfo).port}/")).text();`;
    try {
      await expect((await beginWith(fetching)).choose(playerTurn(0))).rejects.toThrow("the bot threw an error");
      expect(shown.at(-1)).toContain("a bot may not use the network; --allow-net allows it");
      expect(await (await beginWith(fetching, { net: true })).choose(playerTurn(0))).toBe("hello");
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });

  test("gets no environment variables that may be secret, unless its player allows it", async () => {
    vi.stubEnv("LEAGUE_TOKEN", "t0");
    vi.stubEnv("MY_KEY", "k0");
    const show =
      "return [process.env.LEAGUE_TOKEN ?? null, process.env.MY_KEY ?? null, process.env.PATH !== undefined];";
    expect(await (await beginWith(show)).choose(playerTurn(0))).toEqual([null, null, true]);
    expect(await (await beginWith(show, { env: ["MY_KEY"] })).choose(playerTurn(0))).toEqual([null, "k0", true]);
  });

  test("cannot confuse the player with messages of its own", async () => {
    const match = await beginWith(`
      for (const text of ["x", null, { type: "answer", id: 99 }, { type: "log" }, { type: "threw", id: 0 }]) process.send!(text);
      return "ok";
    `);
    expect(await match.choose(playerTurn(0))).toBe("ok");
  });

  test("that ends its process while it loads is an error of the file", async () => {
    await expect(load(write("bot.ts", "process.exit(4);"))).rejects.toMatchObject({
      message: "bot.ts does not load: the bot's process ended with code 4",
      exitCode: 3,
    });
  });
});
