import { spawnSync } from "node:child_process";
import { stripVTControlCharacters } from "node:util";

/** The text `file:line:column: name: message` for a value that the code of a user's file threw. The position is omitted if it is not known. */
export function whereThrown(thrown: unknown, file: string): string {
  if (!(thrown instanceof Error)) return `${file}: threw ${String(thrown)}`;
  const stack = stripVTControlCharacters(thrown.stack ?? "");
  const position =
    positionIn(stack, file) ?? (thrown.name === "SyntaxError" ? positionIn(syntaxCheck(file), file) : null);
  return `${file}${position ?? ""}: ${thrown.name}: ${thrown.message.split("\n", 1)[0]}`;
}

/** The `:line` or `:line:column` that follows the first mention of a file in a text. */
function positionIn(text: string, file: string): string | null {
  const escaped = file.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`${escaped}(:\\d+(?::\\d+)?)`).exec(text)?.[1] ?? null;
}

/** The output of `node --check`. The syntax errors of the module loader do not contain the line. */
const syntaxCheck = (file: string): string =>
  spawnSync(process.execPath, ["--check", file], { encoding: "utf8" }).stderr;
