import { existsSync, readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { faultsOfShape, type ShapeFault } from "#shared/games/contract/shape.ts";
import type { Game } from "#shared/games/game.ts";
import { findGame, isBuiltIn, registerGame } from "#shared/games/registry.ts";
import { err, ok, type Result } from "#shared/lib/result.ts";
import { pathOf } from "#shared/lib/schema-messages.ts";
import { resolveOtherEndings } from "./files/other-endings.ts";
import { whereThrown } from "./files/thrown-position.ts";
import { EXIT, StartError } from "./process/exit.ts";

/** Returns whether the text that selects a game is the path of a file. */
export const isGameFile = (text: string): boolean => /\.[cm]?[jt]s$/.test(text);

/** The files whose games this process has registered. */
const registered = new Map<string, Game>();

export const registeredFiles = (): readonly string[] => [...registered.keys()];

/**
 * Loads the game of a file and registers it in this process. The code of the file runs with all rights of the process.
 * Returns the game, or the fault with the file and the line.
 */
export async function loadGame(file: string): Promise<Result<Game, string>> {
  const path = resolve(file);
  const known = registered.get(path);
  if (known) return ok(known);
  const read = await readGame(path);
  if (!read.ok) return read;
  const game = read.value;
  if (findGame(game.id)) {
    const [file = "another file"] = [...registered].find(([, { id }]) => id === game.id) ?? [];
    const other = isBuiltIn(game.id) ? "a built-in game" : `the game of ${file}`;
    return err(
      placed(path, { path: ["id"], message: `${JSON.stringify(game.id)} is the id of ${other}; choose another` }),
    );
  }
  registerGame(game);
  registered.set(path, game);
  return ok(game);
}

/** Loads the games of files and registers them. Throws StartError (exit code 3) with the faults, one in each line. */
export async function loadGames(files: readonly string[]): Promise<readonly Game[]> {
  const loaded: Result<Game, string>[] = [];
  for (const file of files) loaded.push(await loadGame(file));
  const faults = loaded.flatMap((result) => (result.ok ? [] : [result.error]));
  if (faults.length > 0) throw new StartError(faults.join("\n"), EXIT.config);
  return loaded.flatMap((result) => (result.ok ? [result.value] : []));
}

/** Imports a file and returns its default export if it has the shape of a game. */
export async function readGame(path: string): Promise<Result<Game, string>> {
  if (!existsSync(path)) return err(`${path}: no such file`);
  resolveAuthorApi();
  resolveOtherEndings();
  let exported: Record<string, unknown>;
  try {
    exported = await import(pathToFileURL(path).href);
  } catch (thrown) {
    return err(whereThrown(thrown, path));
  }
  const { default: game, ...named } = exported;
  if (game === undefined) {
    const [name = "game"] = Object.keys(named);
    return err(`${path}: has no default export; add the line: export default ${name};`);
  }
  const faults = faultsOfShape(game);
  return faults.length === 0 ? ok(game as Game) : err(faults.map((fault) => placed(path, fault)).join("\n"));
}

/** Returns a fault of a registered game with the position in its file; null for a game without a file. */
export function placedFault(game: Game, fault: ShapeFault): string | null {
  const [file] = [...registered].find(([, other]) => other === game) ?? [];
  return file === undefined ? null : placed(file, fault);
}

/** Adds the position of the faulty field, or of the default export, to a fault. */
function placed(file: string, { path, message }: ShapeFault): string {
  const lines = readFileSync(file, "utf8").split("\n");
  const names = path.filter((part) => typeof part === "string").toReversed();
  const line = names.map((name) => lineOfField(lines, name)).find((number) => number > 0) ?? lineOfExport(lines);
  return `${file}:${line}: ${path.length === 0 ? "the default export" : pathOf(path)} ${message}`;
}

/** Returns the line that sets a field, outside of other objects if possible; 0 if there is none. */
function lineOfField(lines: readonly string[], name: string): number {
  const field = new RegExp(`(?:^|[{,])\\s*(?:async\\s+)?${name}\\s*[:(,]`);
  const found = lines.flatMap((line, index) =>
    field.test(line) ? [{ number: index + 1, depth: line.search(/\S/) }] : [],
  );
  return found.toSorted((a, b) => a.depth - b.depth)[0]?.number ?? 0;
}

const lineOfExport = (lines: readonly string[]): number =>
  Math.max(1, lines.findIndex((line) => /^\s*export default\b/.test(line)) + 1);

let isHooked = false;

/** Resolves `agent-league/game` in files of any folder, also without an installed package beside them. */
function resolveAuthorApi(): void {
  if (isHooked) return;
  isHooked = true;
  const url = import.meta.resolve("agent-league/game");
  registerHooks({
    resolve(specifier, context, nextResolve) {
      return specifier === "agent-league/game" ? { url, shortCircuit: true } : nextResolve(specifier, context);
    },
  });
}
