import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import type { GameInvite } from "#shared/protocol/messages.ts";
import { BotPermissions } from "#shared/runtime/bot-permissions.ts";
import { systemDisk } from "#shared/runtime/files/disk.ts";
import { cleanUp, newFolder } from "../../testing/processes.ts";
import { loadLocalBots } from "./local-bots.ts";

const ENGINE = fileURLToPath(new URL("../../../player/testing/uci-engine.ts", import.meta.url));
const CONCURRENCY = 9;

afterEach(cleanUp);

test("an engine has a process for each game that is played at the same time", async () => {
  const folder = newFolder();
  const log = join(folder, "log");
  const spec = `uci:${JSON.stringify({ command: [process.execPath, ENGINE, log] })}`;
  const entries = [{ playerId: "P01", name: "Fish", spec, allow: BotPermissions.parse({}) }];
  const system = { clock: systemClock, disk: systemDisk(systemClock) };
  const report = { warn: () => {}, fail: () => {} };
  const bots = await loadLocalBots(
    { system, entries, folder, concurrency: CONCURRENCY, isTrusted: false, ...report },
    2,
  );
  try {
    const { player } = bots.at(bots.endpointOf("P01"));
    const invitation = (match_id: string): GameInvite => ({
      league_id: "match",
      round_id: 1,
      match_id,
      epoch: 1,
      game: "chess.v1",
      options: {},
      bot_seed: "seed",
      your_role: "white",
      roles: { white: "P01", black: "P02" },
      seed_commitment: "0".repeat(64),
      time_limit_seconds: 600,
    });
    const matchIds = Array.from({ length: CONCURRENCY }, (_, index) => `M${index}`);
    const answers = await Promise.all(matchIds.map((id) => player.invite(invitation(id), "token")));
    expect(answers).toEqual(matchIds.map(() => ({ accept: true })));
    const started = readFileSync(log, "utf8").match(/^\d+(?= ucinewgame$)/gm);
    expect(new Set(started).size).toBe(CONCURRENCY);
  } finally {
    await bots.close();
  }
});
