import { spawnSync } from "node:child_process";
import { stripVTControlCharacters } from "node:util";

/** The text `file:line:column: name: message` for a value that the code of a user's file threw. The position is omitted if it is not known. */
export function whereThrown(thrown: unknown, file: string): string {
  if (!(thrown instanceof Error)) return `${file}: threw ${String(thrown)}`;
  const stack = stripVTControlCharacters(thrown.stack ?? "");
  const position =
    positionIn(stack, file) ?? (thrown.name === "SyntaxError" ? positionIn(syntaxCheck(file), file) : null);
  const message = thrown.message.split("\n", 1)[0] ?? "";
  return `${file}${position ?? ""}: ${thrown.name}: ${message}${typeAdvice(message)}`;
}

/** The package of the types of bots has no values. */
const TYPES = "agent-league";

/**
 * Returns the advice for an import of a type without the word `type`, from which Node does not remove the import, as text that follows the message of the error.
 * The error of Node has the name, and that of a package that is not installed has only the package.
 */
export function typeAdvice(message: string): string {
  const [, module, name] = /module '(.+)' does not provide an export named '([^']+)'/.exec(message) ?? [];
  if (name !== undefined && name !== "default") {
    return `. If ${name} is a type, write: import type { ${name} } from "${module}"`;
  }
  const isOfTypes = [`Could not resolve "${TYPES}"`, `Cannot find package '${TYPES}'`].some((text) =>
    message.startsWith(text),
  );
  return isOfTypes ? `. It has only types: write import type { Bot } from "${TYPES}"` : "";
}

/** The `:line` or `:line:column` that follows the first mention of a file in a text. */
function positionIn(text: string, file: string): string | null {
  const escaped = file.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`${escaped}(:\\d+(?::\\d+)?)`).exec(text)?.[1] ?? null;
}

/** The output of `node --check`. The syntax errors of the module loader do not contain the line. */
const syntaxCheck = (file: string): string =>
  spawnSync(process.execPath, ["--check", file], { encoding: "utf8" }).stderr;
