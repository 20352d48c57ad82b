import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { formatIds } from "../../formats/registry.ts";
import { loadConfig } from "./config-file.ts";

const FOLDER = new URL("../../../config/", import.meta.url);
const exampleOf = (format: string): string =>
  fileURLToPath(new URL(format === "round-robin" ? "league.json" : `${format}.json`, FOLDER));

describe("the folder config", () => {
  test.each(formatIds)("has an example of the format %s that is accepted", async (format) => {
    const loaded = await loadConfig(exampleOf(format), {});
    if (!loaded.ok) throw new Error(loaded.error.join("\n"));
    for (const league of loaded.value.config.leagues) expect(league.format).toBe(format);
  });

  test("has a league for a class that accepts late players from other machines with a join code", async () => {
    const loaded = await loadConfig(fileURLToPath(new URL("class.json", FOLDER)), {});
    if (!loaded.ok) throw new Error(loaded.error.join("\n"));
    const { manager, players, leagues } = loaded.value.config;
    expect(manager).toMatchObject({ host: "0.0.0.0", join_code: "oak" });
    expect(players).toEqual([]);
    expect(leagues).toMatchObject([{ league_id: "lesson-1", late_entry: "makeup" }]);
  });
});
