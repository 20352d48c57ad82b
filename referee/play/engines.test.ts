import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { engineFault, engineOpponents } from "./engines.ts";

const folder = mkdtempSync(join(tmpdir(), "engines-"));
afterAll(() => rmSync(folder, { recursive: true }));

const EMPTY = join(folder, "empty");
mkdirSync(EMPTY);
writeFileSync(join(folder, "stockfish"), "");

const inPath = (path: string, commands: readonly string[] = []) =>
  engineOpponents(path, commands, []).map(({ bot }) => bot);

it("finds engines in the folders of the PATH", () => {
  expect(inPath(EMPTY)).toEqual([]);
  expect(inPath(["", EMPTY, folder].join(delimiter))).toEqual([
    "stockfish-easy",
    "stockfish-hard",
    "stockfish-very-hard",
  ]);
});

it("an engine that is given by its command has names of bots, whatever its path is", () => {
  expect(inPath(EMPTY, ["/opt/My Engine_2 --uci"])).toEqual(["my-medium", "my-hard", "my-very-hard"]);
  const [weak] = engineOpponents(EMPTY, ["/opt/lc0 -w net"], []);
  expect(weak).toMatchObject({ bot: "lc0-medium", level: "medium", description: "lc0, one half-move ahead" });
  expect(JSON.parse(weak?.spec.slice("uci:".length) ?? "")).toMatchObject({ command: "/opt/lc0 -w net", depth: 1 });
});

it("a command whose program is not there is a fault", () => {
  const path = [EMPTY, folder].join(delimiter);
  expect(engineFault("stockfish", path, [])).toBeNull();
  expect(engineFault(`${join(folder, "stockfish")} --uci`, EMPTY, [])).toBeNull();
  expect(engineFault('"/opt/My Engine/lc0" -w net', EMPTY, [])).toBeNull();
  expect(engineFault("stockfish", EMPTY, [])).toBe('no program "stockfish" in the PATH');
  expect(engineFault("/nope/engine --uci", path, [])).toBe("/nope/engine: no such file");
  expect(engineFault("  ", path, [])).toBe('no program "" in the PATH');
});
