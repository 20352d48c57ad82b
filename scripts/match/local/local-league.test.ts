import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { Config } from "#shared/runtime/config/config.ts";
import { systemDisk } from "#shared/runtime/files/disk.ts";
import { StartError } from "#shared/runtime/process/exit.ts";
import { beginRun } from "../../run/run-folder.ts";
import { cleanUp, newFolder } from "../../testing/processes.ts";
import { openLocalLeague } from "./local-league.ts";

afterEach(cleanUp);

test("a store that is damaged is named in one line", async () => {
  const players = ["random", "cycle"].map((bot) => ({ name: bot, bot }));
  const leagues = [{ league_id: "match", game: "rps.v1", format: "match" }];
  const folder = beginRun(Config.parse({ data: newFolder(), players, leagues }), "seed", systemClock);
  const file = join(folder.path, "league-manager.sqlite");
  writeFileSync(file, "not a database ".repeat(1_000));
  const system = { clock: systemClock, ids: systemIds, disk: systemDisk(systemClock) };
  const opening = openLocalLeague(
    folder,
    system,
    () => null,
    () => {},
  );
  await expect(opening).rejects.toThrow(StartError);
  await expect(opening).rejects.toThrow(`${file} is damaged: file is not a database`);
});
