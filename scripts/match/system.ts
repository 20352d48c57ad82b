import type { Clock } from "#shared/lib/clock.ts";
import type { Ids } from "#shared/lib/ids.ts";
import type { Disk } from "#shared/runtime/files/disk.ts";

/** The time, the random ids and the files of a match. */
export interface MatchSystem {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly disk: Disk;
}
