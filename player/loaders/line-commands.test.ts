import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test, vi } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import { EXIT } from "#shared/runtime/process/exit.ts";
import { isRunning, linePrograms, patient } from "../testing/line-programs.ts";
import { linesSpec } from "./lines.ts";

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

  test("that ends with an error in its first turn, and also without input, is a failure with its output", async () => {
    const source = `import { existsSync } from "node:fs";
if (existsSync("broken")) throw new Error("again");
process.stdin.on("data", () => { throw new Error("too late"); });`;
    writeFileSync(pathOf("late.mjs"), source);
    const failed = Promise.withResolvers<Error>();
    const bot = await loadSpec(linesSpec([process.execPath, "late.mjs"], folder()), patient(), failed.resolve);
    writeFileSync(pathOf("broken"), "");
    const player = begin(bot);
    let hasAnswered = false;
    const answered = (): void => {
      hasAnswered = true;
    };
    void Promise.resolve(player.choose(turn(0))).then(answered, answered);
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
    const pids = pathOf("pids");
    const flag = pathOf("flag");
    const ready = `echo $$ >> "${pids}"; echo '{"ready": true}'; if [ ! -e "${flag}" ]; then exit 0; fi`;
    const source = `${ready}; read start; read turn; echo '{"action": "again"}'`;
    const bot = await loadSpec(`lines:sh -c '${source.replaceAll("'", "'\\''")}'`, systemClock);
    const started = readFileSync(pids, "utf8").trim().split("\n").map(Number);
    await vi.waitFor(() => expect(started.filter(isRunning)).toEqual([]), WAIT_OPTIONS);
    writeFileSync(flag, "");
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
