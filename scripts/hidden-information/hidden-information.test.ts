/**
 * The table of hidden information: each cell is a viewer at a surface of a game in which something is hidden. While it is hidden the
 * viewer that may know it sees it there, and no other viewer receives a byte that depends on it.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sha256Hex } from "#shared/lib/hash.ts";
import { type Hidden, REQUEST_SURFACES, STREAM_SURFACES } from "../../referee/play/testing/surfaces.ts";
import { startTestHost, type TestHost } from "../../referee/rest/testing/host.ts";
import { type Observer, observe } from "../../referee/rest/testing/rest.ts";
import { OTHERS, type Reading, type Readings, readAll, SURFACES } from "./testing/readings.ts";
import { plain, SCENES, type World } from "./testing/scenes.ts";

let host: TestHost;
let observer: Observer;
let agentToken: string;
beforeAll(async () => {
  host = await startTestHost();
  observer = observe(host);
  agentToken = (await host.agent()).token;
});
afterAll(async () => {
  observer.close();
  await host.remove();
});

const ROLES: Readonly<Record<string, readonly string[]>> = {
  rps: ["player_1", "player_2"],
  even_odd: ["ODD", "EVEN"],
  kuhn_poker: ["player_1", "player_2"],
  codenames: ["red_spymaster", "red_team", "blue_spymaster", "blue_team"],
};
/** The answers with which the seats were given out, before the choice. */
const SEAT = { readers: "none", shows: ["card", "key"] as readonly Hidden[] };
const rolesOf = (scene: string): readonly string[] => ROLES[/^\w+/.exec(scene)?.[0] ?? ""] ?? [];

describe.each(Object.entries(SCENES))("%s", (name, scene) => {
  let worlds: World[];
  let readings: Readings[];
  beforeAll(async () => {
    worlds = await scene.worlds(host, observer);
    readings = [];
    for (const world of worlds) readings.push(await readAll(host, world, agentToken));
  }, 60_000);

  const viewers = [...rolesOf(name), ...OTHERS].filter((viewer) => !scene.without?.includes(viewer));
  const cells = viewers.flatMap((viewer) => SURFACES.map((surface) => [viewer, surface] as const));

  it.each(cells)("%s at %s", (viewer, surface) => {
    const at = readings.map((one) => one.get(viewer)?.get(surface) as Reading);
    const texts = (when: "hidden" | "after"): string[] => at.map((one) => one[when]);
    const notified = { readers: "none", shows: [] };
    const { shows, readers } = { ...REQUEST_SURFACES, ...STREAM_SURFACES, seat: SEAT }[surface] ?? notified;
    const isShown = (shows as readonly Hidden[]).includes(scene.hidden);
    const knows = isShown && scene.holders.includes(viewer) && readers !== "public";
    expect(scene.tell(texts("hidden"), worlds, observer), "tells what is hidden").toBe(knows);

    const isSeat = !OTHERS.includes(viewer as never);
    const isReader = (isSeat && readers !== "none") || (viewer === "another agent" && readers === "agents");
    const reads = isReader || readers === "all" || readers === "public";
    if (isShown && reads && scene.isRevealed)
      expect(scene.tell(texts("after"), worlds, observer), "tells what is revealed").toBe(true);

    if (scene.hidden === "choice" && !isSeat) {
      for (const { before, hidden } of at) if (before !== null) expect(plain(hidden)).toBe(plain(before));
    }
    for (const [index, { gameId, tokens }] of worlds.entries()) {
      const bytes = `${at[index]?.before}${at[index]?.hidden}${at[index]?.after}`;
      const [{ seed }] = observer.rows("SELECT seed FROM sessions WHERE session_id = ?", gameId);
      const others = Object.entries(tokens).flatMap(([role, token]) => (role === viewer ? [] : [token]));
      const found = [seed, ...others, ...Object.values(tokens).map(sha256Hex)].filter((one) => bytes.includes(one));
      expect(found, "secrets").toEqual([]);
    }
  });
});
