import { onTestFinished } from "vitest";
import type { Game } from "#shared/games/game.ts";
import { registerGame } from "#shared/games/registry.ts";
import { rps } from "#shared/games/rps.ts";
import { type TestSeat, twoSeats } from "../../play/testing/play.ts";
import { startTestHost, type TestHost } from "../../rest/testing/host.ts";

/** Starts a host with a session whose game was removed between two starts of the host. Resolves with the host and one of its seats. */
export async function hostOfRemovedGame(): Promise<[TestHost, TestSeat]> {
  const removeGame = registerGame({ ...(rps as Game), id: "removed.v1" });
  const before = await startTestHost();
  const [seat] = await twoSeats(before, "removed.v1");
  await before.stop();
  removeGame();
  const host = await startTestHost({ dataFolder: before.dataFolder, port: before.port });
  onTestFinished(() => host.remove());
  return [host, seat];
}
