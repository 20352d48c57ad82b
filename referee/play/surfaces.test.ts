import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const referee = fileURLToPath(new URL("..", import.meta.url));

/** The paths of the routes that contain the id of a game, as the surfaces write them: "/api/games/ID". */
function pathsOfGames(): readonly string[] {
  const files = readdirSync(referee, { recursive: true, encoding: "utf8" }).filter((file) =>
    /(?<!\.test)\.ts$/.test(file),
  );
  const routes = files.flatMap((file) => [
    ...readFileSync(join(referee, file), "utf8").matchAll(/\bapp\.(?:get|post)\(\s*"([^"]+)"/g),
  ]);
  return routes.flatMap(([, path = ""]) => (path.includes("/:id") ? [path.replace(":id", "ID")] : []));
}

it("every route of a game is among the surfaces of the tests for hidden information", () => {
  const paths = pathsOfGames();
  expect(paths).toContain("/api/games/ID/history");
  const surfaces = readFileSync(join(referee, "play/testing/surfaces.ts"), "utf8");
  const isRead = (path: string): boolean => surfaces.includes(`"${path}"`) || surfaces.includes(`"${path}?`);
  expect(paths.filter((path) => !isRead(path))).toEqual([]);
});
