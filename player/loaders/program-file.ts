import { execFile } from "node:child_process";
import { accessSync, constants, existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, extname, join, resolve } from "node:path";
import type { Clock } from "#shared/lib/clock.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { hashOfFiles } from "../bot-hash.ts";
import type { BotHome, LoadedBot } from "../loaded-bot.ts";
import { isProgramEnding, type ProgramEnding, programIn } from "./bot-files.ts";
import { linesBot, linesSpec } from "./lines.ts";

/** Returns the command of a source file. A compiler writes the program to `out`. */
type Language = (file: string, out: string) => { readonly build?: readonly string[]; readonly run: readonly string[] };

const LANGUAGES: Readonly<Record<ProgramEnding, Language>> = {
  ".py": (file) => ({ run: [process.platform === "win32" ? "python" : "python3", file] }),
  // With a go.mod, the bot may have several files.
  ".go": (file, out) => ({
    build: ["go", "build", "-o", out, existsSync(join(dirname(file), "go.mod")) ? "." : file],
    run: [out],
  }),
};

/**
 * Loads a program that plays by lines of JSON from its file, which settings such as `#start_ms=N` may follow. It runs in the folder of the file.
 * Throws StartError (exit code 3) if the file cannot be compiled or started.
 */
export async function programBot(
  given: string,
  clock: Clock,
  home: Pick<BotHome, "warn" | "fail">,
): Promise<LoadedBot> {
  const { program: spec, startMs, matches } = programIn(given);
  const file = resolve(spec);
  const ending = extname(file);
  const language = isProgramEnding(ending) ? LANGUAGES[ending] : null;
  if (!language && !isExecutable(file)) {
    throw new StartError(`${spec} is not executable: use chmod +x, or give its command as lines:COMMAND`, EXIT.config);
  }
  const folder = dirname(file);
  const target = mkdtempSync(join(tmpdir(), "league-bot-"));
  const remove = (): void => rmSync(target, { recursive: true, force: true });
  try {
    const { build, run } = language?.(file, join(target, "bot")) ?? { run: [file] };
    if (build) await compile(spec, build, folder);
    const bot = await linesBot(linesSpec(run, folder, startMs, matches), clock, home);
    const close = async (): Promise<void> => {
      await bot.close?.();
      remove();
    };
    return { ...bot, name: spec, hash: hashOfFiles(folder, [file]), close };
  } catch (thrown) {
    remove();
    throw thrown;
  }
}

async function compile(spec: string, [compiler = "", ...args]: readonly string[], folder: string): Promise<void> {
  const failed = Promise.withResolvers<void>();
  execFile(compiler, args, { cwd: folder }, (error, stdout, stderr) => {
    if (!error) failed.resolve();
    else if (error.code === "ENOENT")
      failed.reject(new StartError(`${spec}: ${compiler} is not installed`, EXIT.config));
    else failed.reject(new StartError(`${spec} does not compile:\n${`${stdout}${stderr}`.trim()}`, EXIT.config));
  });
  await failed.promise;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
