/** The texts that a league sends and writes without a request: messages to its agents, lines of its processes, and an export. */
import { join } from "node:path";
import { exportOf } from "../../archive/export-store.ts";
import type { Received } from "../../testing/controlled-player.ts";
import {
  ANOTHER_PLAYER,
  ANOTHER_REFEREE,
  anotherPlayer,
  EXPORT,
  MANAGER_OUTPUT,
  OPERATOR,
  REFEREE_OUTPUT,
  WIRE,
} from "./league-surfaces.ts";
import type { ControlledLeague, Moment } from "./league-world.ts";
import { inStableOrder } from "./texts.ts";

/** The messages that the agents of the test have received since the last call. */
export function wireOf({ seats, others, otherReferee }: ControlledLeague): { drain(): Promise<Moment> } {
  const another = anotherPlayer(others);
  const agents = new Map<string, { readonly received: readonly Received[] }>([
    ...seats,
    ...(another ? [[ANOTHER_PLAYER, another] as const] : []),
    [ANOTHER_REFEREE, otherReferee],
  ]);
  const read = new Map<string, number>();
  return {
    async drain() {
      const texts = [...agents].map(([viewer, { received }]) => {
        const newMessages = received.slice(read.get(viewer) ?? 0);
        read.set(viewer, received.length);
        const text = inStableOrder(newMessages.map(({ bytes }) => withoutVolatileFields(bytes)));
        return [viewer, new Map([[WIRE, text]])] as const;
      });
      return new Map(texts);
    },
  };
}

const withoutVolatileFields = (bytes: string): string =>
  bytes
    .replace(/"(time_limit_seconds|last_round_trip_ms|id)":(null|[\d.]+)/g, '"$1":0')
    .replace(/"content-length":"\d+"/g, "LENGTH");

/** Returns the lines of a process without times and the folder, and without the count of the rejections that are not logged. */
const comparableLines = (lines: readonly string[], { dataFolder }: ControlledLeague): string =>
  inStableOrder(
    lines
      .filter((line) => !line.includes('"left_out"'))
      .map((line) => line.replace(/"(time|pid)":\d+,?/g, "").replaceAll(dataFolder, "FOLDER")),
  );

/** The lines that manager and referee have written since the last call. */
export async function outputs(league: ControlledLeague): Promise<Moment> {
  const manager = comparableLines(await league.managerOutput.drain(), league);
  const referee = comparableLines(await league.refereeOutput.drain(), league);
  const texts = Object.entries({ [MANAGER_OUTPUT]: manager, [REFEREE_OUTPUT]: referee });
  return new Map([[OPERATOR, new Map(texts)]]);
}

/** The export of the running league. */
export async function exported({ dataFolder }: ControlledLeague): Promise<Moment> {
  const { files } = await exportOf(join(dataFolder, "league-manager.sqlite"));
  const text = [...files].map(([name, content]) => `${name}\n${content}`).join("\n");
  return new Map([[OPERATOR, new Map([[EXPORT, text]])]]);
}
