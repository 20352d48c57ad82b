import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test, vi } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { manualClock } from "#shared/lib/testing/clock.ts";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import { EXIT } from "#shared/runtime/process/exit.ts";
import { isRunning, linePrograms, patient } from "../testing/line-programs.ts";
import { linesSpec } from "./lines.ts";
import { START_MS } from "./program-start.ts";

const { pathOf, folder, loadSpec, begin, turn } = linePrograms();

describe("lines:COMMAND", () => {
  test("is a command for the shell, which runs in the present folder", async () => {
    const file = pathOf("bot.mjs");
    writeFileSync(file, 'process.stdin.on("data", () => console.log(JSON.stringify({ action: process.cwd() })));');
    const bot = await loadSpec(`lines:"${process.execPath}" "${file}"`, systemClock);
    expect(await begin(bot).choose(turn(0))).toBe(process.cwd());
  });

  test("that is not installed is a StartError", async () => {
    await expect(loadSpec("lines:no-such-program", patient())).rejects.toThrow(
      /^no-such-program ended with code 127 when it was started\n.*no-such-program.*not found/,
    );
  });

  test("that ends with an error when it is started is a StartError with its output", async () => {
    const spec = linesSpec([process.execPath, "none.mjs"], folder());
    const start = loadSpec(spec, patient());
    await expect(start).rejects.toMatchObject({ exitCode: EXIT.config });
    await expect(start).rejects.toThrow(
      /^\S*node none\.mjs ended with code 1 when it was started\n(.*\n)*Error: Cannot find module '.*none\.mjs'/,
    );
  });

  test("that ends with an error after the time of its start, and also without input, is a failure with its output", async () => {
    const clock = manualClock();
    const source = 'process.once("SIGUSR2", () => { throw new Error("too late"); }); setInterval(() => {}, 1_000);';
    const flag = pathOf("started");
    const first = `import { existsSync, writeFileSync } from "node:fs"; if (existsSync("started")) throw new Error("again"); ${source} writeFileSync("started", String(process.pid));`;
    writeFileSync(pathOf("late.mjs"), first);
    const failed = Promise.withResolvers<Error>();
    const loading = loadSpec(linesSpec([process.execPath, "late.mjs"], folder()), clock, failed.resolve);
    await vi.waitFor(() => expect(readFileSync(flag, "utf8")).toMatch(/^\d+$/), WAIT_OPTIONS);
    await clock.advance(START_MS);
    const bot = await loading;
    const player = begin(bot);
    let hasAnswered = false;
    const answered = (): void => {
      hasAnswered = true;
    };
    void Promise.resolve(player.choose(turn(0))).then(answered, answered);
    process.kill(Number(readFileSync(flag, "utf8")), "SIGUSR2");
    const error = await failed.promise;
    expect(error).toMatchObject({ exitCode: EXIT.config });
    expect(error.message).toMatch(/^\S*node late\.mjs ended with code 1 when it was started\n(.*\n)*Error: again/);
    expect(hasAnswered).toBe(false);
  });

  test("that ends without an error when it is started is a bot", async () => {
    const bot = await loadSpec("lines:true", patient());
    await expect(begin(bot).choose(turn(0))).rejects.toThrow("the program ended with code 0");
  });

  test("whose first process ended before the first match is started again for it", async () => {
    const flag = pathOf("started");
    const first = `if [ ! -e "${flag}" ]; then echo $$ > "${flag}"; exit 0; fi; read start; read turn; echo '{"action": "again"}'`;
    const bot = await loadSpec(`lines:sh -c '${first.replaceAll("'", "'\\''")}'`, systemClock);
    await vi.waitFor(() => expect(readFileSync(flag, "utf8")).toMatch(/^\d+\n$/), WAIT_OPTIONS);
    const pid = Number(readFileSync(flag, "utf8"));
    await vi.waitFor(() => expect(isRunning(pid)).toBe(false), WAIT_OPTIONS);
    expect(await begin(bot).choose(turn(0))).toBe("again");
  });

  test("without a command is a StartError", async () => {
    await expect(loadSpec("lines: ", systemClock)).rejects.toThrow(
      "lines: names no command, e.g. lines:python3 bot.py",
    );
  });

  test("of a config that does not start is a StartError", async () => {
    const spec = linesSpec(["no-such-program"], folder());
    await expect(loadSpec(spec, systemClock)).rejects.toThrow("no-such-program does not start: spawn no-such-program");
    expect(existsSync(pathOf("lines.txt"))).toBe(false);
  });
});
