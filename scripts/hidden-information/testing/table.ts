/** The table of hidden information: its scenes, viewers and surfaces, and what each cell asserts. */
import { beforeAll, describe, expect, it } from "vitest";
import type { Hidden, Readers } from "../../../referee/play/testing/surfaces.ts";
import { plain, withoutHashes } from "./texts.ts";

/** What one viewer received at one surface. `before` is null at a surface that has no text of the time before. */
export interface Reading {
  readonly before: string | null;
  readonly hidden: string;
  readonly after: string;
}
/** By viewer and surface. */
export type Readings = ReadonlyMap<string, ReadonlyMap<string, Reading>>;

/** A text that only some viewers may receive. Of a token, neither may its SHA-256 reach another viewer. */
export interface Secret {
  readonly text: string;
  readonly owners: readonly string[];
  /** True if it is public once the turn is over. */
  readonly isRevealed?: boolean;
}

/** A game in which something is hidden, as all viewers have read it. */
export interface Read {
  readonly readings: Readings;
  readonly secrets: readonly Secret[];
}

export interface SurfaceFacts {
  readonly readers: Readers;
  /** The hidden information that the surface shows to its readers when it is hidden no more. */
  readonly shows: readonly Hidden[];
  /** The hidden information that it shows to the viewer that may know it; by default that of `shows`. */
  readonly showsHolder?: readonly Hidden[];
  /** True if it shows hashes of random ids, which differ from game to game. */
  readonly hasRandomHashes?: boolean;
  /** The viewers that have this surface; by default all. */
  readonly viewers?: readonly string[];
}

/** One situation in which something is hidden. It is played once for each value that the hidden information may have. */
export interface Scene<World extends Read = Read> {
  readonly hidden: Hidden;
  /** The viewers that know what is hidden. */
  readonly holders: readonly string[];
  /** True if the end of the turn shows to all what was hidden. */
  readonly isRevealed: boolean;
  /** The viewers that have a seat of the game. */
  readonly seats: readonly string[];
  readonly viewers: readonly string[];
  readonly surfaces: Readonly<Record<string, SurfaceFacts>>;
  play(): Promise<readonly World[]>;
  /** True if texts, one for each world, tell what is hidden there. */
  tell(texts: readonly string[], worlds: readonly World[]): boolean;
}

/** Adds the tests of scenes: one for each cell of viewer and surface. */
export function hiddenInformation<World extends Read>(scenes: Readonly<Record<string, Scene<World>>>): void {
  describe.each(Object.entries(scenes))("%s", (_name, scene) => {
    let worlds: readonly World[];
    beforeAll(async () => {
      worlds = await scene.play();
    }, 120_000);

    const cells = scene.viewers.flatMap((viewer) =>
      Object.entries(scene.surfaces)
        .filter(([, { viewers }]) => viewers?.includes(viewer) ?? true)
        .map(([surface]) => [viewer, surface] as const),
    );
    it.each(cells)("%s at %s", (viewer, surface) => {
      expectTold(scene, worlds, viewer, surface);
      for (const world of worlds) expectNoSecret(world, viewer, surface);
    });
  });
}

function readingOf({ readings }: Read, viewer: string, surface: string): Reading {
  const reading = readings.get(viewer)?.get(surface);
  if (!reading) throw new Error(`${viewer} has not read ${surface}`);
  return reading;
}

/** Expects that a viewer is told what is hidden only if it may know it, and later if it is revealed. */
function expectTold<World extends Read>(
  scene: Scene<World>,
  worlds: readonly World[],
  viewer: string,
  surface: string,
): void {
  const { readers, shows, showsHolder = shows, hasRandomHashes } = scene.surfaces[surface] as SurfaceFacts;
  const at = worlds.map((world) => readingOf(world, viewer, surface));
  const steady = (text: string): string => (hasRandomHashes ? withoutHashes(text) : text);
  const isSpectator = !scene.seats.includes(viewer) || readers === "public";
  const knows = showsHolder.includes(scene.hidden) && scene.holders.includes(viewer) && !isSpectator;
  const texts = (when: "hidden" | "after"): string[] => at.map((one) => steady(one[when]));
  expect(scene.tell(texts("hidden"), worlds), "tells what is hidden").toBe(knows);

  if (scene.isRevealed && shows.includes(scene.hidden) && isReader(scene, readers, viewer))
    expect(scene.tell(texts("after"), worlds), "tells what is revealed").toBe(true);

  // A spectator does not even learn that a role has chosen.
  if (scene.hidden !== "choice" || !isSpectator) return;
  for (const { before, hidden } of at) if (before !== null) expect(plain(steady(hidden))).toBe(plain(steady(before)));
}

function isReader({ seats }: Scene, readers: Readers, viewer: string): boolean {
  if (readers === "all" || readers === "public") return true;
  if (readers === "agents" && viewer === "another agent") return true;
  return readers !== "none" && seats.includes(viewer);
}

/** Expects that no text of a viewer contains a secret of another one. */
function expectNoSecret(world: Read, viewer: string, surface: string): void {
  const { before, hidden, after } = readingOf(world, viewer, surface);
  const found = world.secrets.filter(({ text, owners, isRevealed }) => {
    if (owners.includes(viewer)) return false;
    const bytes = [before, hidden, isRevealed ? null : after].join("\n");
    return bytes.includes(text);
  });
  expect(found, "secrets").toEqual([]);
}
