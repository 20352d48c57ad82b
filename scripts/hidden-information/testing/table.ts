/** The table of hidden information: its scenes, viewers and surfaces, and what each cell asserts. */
import { beforeAll, describe, expect, it } from "vitest";
import { isLongRun } from "#shared/lib/testing/long-run.ts";
import type { Hidden, Readers } from "../../../referee/play/testing/surfaces.ts";
import { plain, withoutHashes } from "./texts.ts";

/** The texts that one viewer received at one surface: before the information is hidden, while it is hidden, and after the turn. */
export interface Reading {
  /** Null at a surface that has no earlier text. */
  readonly before: string | null;
  readonly hidden: string;
  readonly after: string;
  /** All bytes that were received while the information was hidden, if `hidden` is only the last state of a document. */
  readonly bytes?: string;
}
/** By viewer and surface. */
export type Readings = ReadonlyMap<string, ReadonlyMap<string, Reading>>;

/** A text that only its owners may receive. The SHA-256 of a token is a separate secret without owners. */
export interface Secret {
  readonly text: string;
  readonly owners: readonly string[];
  /** True if the text is public after the end of the turn. */
  readonly isRevealed?: boolean;
}

/** The texts of one game with hidden information, for all viewers and surfaces. */
export interface Read {
  readonly readings: Readings;
  readonly secrets: readonly Secret[];
}

export interface SurfaceFacts {
  readonly readers: Readers;
  /** The kinds of hidden information that the surface shows to its readers after they are revealed. */
  readonly shows: readonly Hidden[];
  /** The kinds of hidden information that the surface shows to the viewers that may know them; by default those of `shows`. */
  readonly showsHolder?: readonly Hidden[];
  /** True if the surface shows hashes of random ids, which differ between games. */
  readonly hasRandomHashes?: boolean;
  /** The viewers that have this surface; by default all. */
  readonly viewers?: readonly string[];
}

/** One situation with hidden information. It is played once for each value of the hidden information; each of these games is a world. */
export interface Scene<World extends Read = Read> {
  readonly hidden: Hidden;
  /** The viewers that may know the hidden information. */
  readonly holders: readonly string[];
  /** True if the end of the turn reveals the hidden information to all viewers. */
  readonly isRevealed: boolean;
  /** The viewers that have a seat of the game. */
  readonly seats: readonly string[];
  readonly viewers: readonly string[];
  readonly surfaces: Readonly<Record<string, SurfaceFacts>>;
  play(): Promise<readonly World[]>;
  /** Returns whether texts, one for each world, disclose the hidden information of their worlds. */
  discloses(texts: readonly string[], worlds: readonly World[]): boolean;
}

/**
 * Adds the tests of scenes: one for each cell of viewer and surface. Scenes of `symmetrical` differ from another scene only in the seat, so that only
 * `npm run test:long` plays them.
 */
export function hiddenInformation<World extends Read>(
  scenes: Readonly<Record<string, Scene<World>>>,
  symmetrical: readonly string[],
): void {
  const played = Object.entries(scenes).filter(([name]) => isLongRun || !symmetrical.includes(name));
  describe.each(played)("%s", (_name, scene) => {
    let worlds: readonly World[];
    beforeAll(async () => {
      worlds = await scene.play();
    });

    const cells = scene.viewers.flatMap((viewer) =>
      Object.entries(scene.surfaces)
        .filter(([, { viewers }]) => viewers?.includes(viewer) ?? true)
        .map(([surface]) => [viewer, surface] as const),
    );
    it.each(cells)("%s at %s", (viewer, surface) => {
      expectDisclosure(scene, worlds, viewer, surface);
      for (const world of worlds) expectNoSecret(world, viewer, surface);
    });
  });
}

function readingOf({ readings }: Read, viewer: string, surface: string): Reading {
  const reading = readings.get(viewer)?.get(surface);
  if (!reading) throw new Error(`${viewer} has not read ${surface}`);
  return reading;
}

/** Expects that the texts of a viewer disclose the hidden information only to a holder, and to all readers after it is revealed. */
function expectDisclosure<World extends Read>(
  scene: Scene<World>,
  worlds: readonly World[],
  viewer: string,
  surface: string,
): void {
  const { readers, shows, showsHolder = shows, hasRandomHashes } = scene.surfaces[surface] as SurfaceFacts;
  const at = worlds.map((world) => readingOf(world, viewer, surface));
  const comparable = (text: string): string => withoutComments(hasRandomHashes ? withoutHashes(text) : text);
  const isSpectator = !scene.seats.includes(viewer) || readers === "public";
  const knows = showsHolder.includes(scene.hidden) && scene.holders.includes(viewer) && !isSpectator;
  const texts = (when: "hidden" | "after"): string[] => at.map((reading) => comparable(reading[when]));
  expect(scene.discloses(texts("hidden"), worlds), "discloses the hidden information").toBe(knows);

  if (scene.isRevealed && shows.includes(scene.hidden) && isReader(scene, readers, viewer))
    expect(scene.discloses(texts("after"), worlds), "shows the revealed information").toBe(true);

  // The texts of a spectator do not depend on whether a role has chosen.
  if (scene.hidden !== "choice" || !isSpectator) return;
  for (const { before, hidden } of at)
    if (before !== null) expect(plain(comparable(hidden))).toBe(plain(comparable(before)));
}

/** Removes the comments that keep an event stream open. A slow machine receives some of them. */
const withoutComments = (text: string): string => text.replaceAll(/^: (heartbeat|keepalive)\n\n/gm, "");

function isReader({ seats }: Scene, readers: Readers, viewer: string): boolean {
  if (readers === "all" || readers === "public") return true;
  if (readers === "agents" && viewer === "another agent") return true;
  return readers !== "none" && seats.includes(viewer);
}

/** Expects that no text of a viewer contains a secret of another viewer. */
function expectNoSecret(world: Read, viewer: string, surface: string): void {
  const { before, hidden, after, bytes = "" } = readingOf(world, viewer, surface);
  const found = world.secrets.filter(({ text, owners, isRevealed }) => {
    if (owners.includes(viewer)) return false;
    const texts = [before, bytes, hidden, isRevealed ? null : after].join("\n");
    return texts.includes(text);
  });
  expect(found, "secrets").toEqual([]);
}
