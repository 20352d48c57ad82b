import type { Clock } from "#shared/lib/clock.ts";
import type { Ids } from "#shared/lib/ids.ts";
import { invariant } from "#shared/lib/result.ts";
import { StartError } from "#shared/runtime/process/exit.ts";
import { StoreBusy } from "#shared/store/store-errors.ts";
import { forgetPlayer } from "../../../league-manager/commands/agent-commands.ts";
import { leagueStream } from "../../../league-manager/league/events.ts";
import { databaseName, withDatabase } from "../../database/open.ts";

/** A player with a match to play cannot be forgotten, so the command changes no jobs. */
const NO_JOBS = {
  enqueue: async () => invariant(false, "the erasure of a player adds no jobs"),
  complete: async () => invariant(false, "the erasure of a player ends no jobs"),
};

/**
 * Erases the profile of a player in a PostgreSQL database, by the command that a manager executes. Managers that are running read it like every commit
 * of another manager. Rejects with StartError if the player cannot be erased now.
 */
export const eraseInDatabase = (url: string, playerId: string, { clock, ids }: Tools): Promise<void> =>
  withDatabase(url, async () => {
    const { openPostgresRun } = await import("../../../league-manager/postgres/postgres-run.ts");
    const { loadSharedState } = await import("../../../league-manager/shared-run/shared-ledger.ts");
    const { SharedLedger } = await import("../../../league-manager/shared-run/shared-ledger.ts");
    const database = await openPostgresRun({ url, queue: NO_JOBS, clock, ids });
    try {
      const streams = await database.streams(leagueStream(""));
      const leagueIds = streams.map((stream) => stream.slice(leagueStream("").length));
      const loaded = await loadSharedState(database, leagueIds);
      const ledger = new SharedLedger({ database, loaded, clock, ids, leagueIds, onFatal() {} });
      try {
        const forgotten = await ledger.execute(forgetPlayer(playerId));
        if (!forgotten.ok) throw new StartError(forgotten.error.message);
      } finally {
        await ledger.stop();
      }
    } catch (thrown) {
      if (!(thrown instanceof StoreBusy)) throw thrown;
      throw new StartError(`${await databaseName(url)} does not answer: repeat the command`);
    } finally {
      await database.close();
    }
  });

export interface Tools {
  readonly clock: Clock;
  readonly ids: Ids;
}
