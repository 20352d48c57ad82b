import { Command } from "commander";
import { takenByNpm, withExamples, withUsageExit } from "#shared/runtime/command-options.ts";
import { EXIT, fileFault, StartError } from "#shared/runtime/process/exit.ts";
import { endWithNpm } from "#shared/runtime/process/parent-watchdog.ts";
import { VERSION } from "#shared/runtime/program.ts";

/** The command line of `league`. */
export const program = withUsageExit(new Command("league"))
  .description("Plays leagues of games between programs, people and language models.")
  .version(VERSION);
withExamples(program, [
  "npm start                                             # play the default league",
  "npm run league -- play greedy counter --game chess    # play one match",
  "npm run league -- serve --lan --players 4             # run a league for other machines",
  "npm run league -- COMMAND --help                      # show examples and defaults of a command",
]).addHelpText("after", "\nExit codes: 0 ok, 1 failed, 2 usage, 3 config, 130 interrupted.");

/** Adds a command with examples. */
export const subcommand = (usage: string, description: string, examples: readonly string[]): Command =>
  withExamples(withUsageExit(program.command(usage)).description(description), examples);

/** Ends the process with a command's exit code, after its output has been written. */
export async function exitWith(command: Promise<number>): Promise<void> {
  endWithNpm();
  process.on("uncaughtException", (thrown) => exitAfterOutput(reportFault(thrown)));
  exitAfterOutput(await command.catch(reportFault));
}

/** Exits after all output is written. A pipe buffers 64 KB; further output would be lost if the process exited immediately. */
function exitAfterOutput(code: number): void {
  process.stdout.write("", () => process.stderr.write("", () => process.exit(code)));
}

/** Prints the error of a command and returns the exit code. A stack trace is printed only for bugs of this program. */
function reportFault(thrown: unknown): number {
  // Errors of the file system, such as a folder that cannot be written, are not bugs of this program.
  const fault = thrown instanceof StartError ? thrown.message : fileFault(thrown);
  process.stderr.write(`${fault ?? (thrown instanceof Error ? thrown.stack : String(thrown))}\n`);
  const command = program.commands.find((known) => known.name() === process.argv[2]);
  const taken = thrown instanceof StartError && command ? takenByNpm(command, process.env) : null;
  if (taken !== null) process.stderr.write(`${taken}\n`);
  return thrown instanceof StartError ? thrown.exitCode : EXIT.failed;
}
