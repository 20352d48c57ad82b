import { openSync } from "node:fs";
import { systemClock } from "#shared/lib/clock.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { createPeers } from "#shared/rpc/peer/peer.ts";
import { hasLeft } from "../effects/endpoint-check.ts";

/** Opens files up to the limit of the process, checks whether the player at the given endpoint has left, and prints the result as JSON. */
const [endpoint = ""] = process.argv.slice(2);
const player = { id: "P01", kind: "player", name: "Ann", endpoint, tokenHash: "", dialect: "native" } as const;
const peers = createPeers({ clock: systemClock });
/** Opens files until the limit is reached. Returns the number of opened files. */
const exhaustFiles = (): number => {
  for (let opened = 0; ; opened++) {
    try {
      openSync("/dev/null", "r");
    } catch {
      return opened;
    }
  }
};
// Node closes some of its own files later. What becomes free is used up again in the next turn of the event loop.
const stop = systemClock.every(0, exhaustFiles);
do await systemClock.pause(50);
while (exhaustFiles() > 0);
const left = await hasLeft(peers, systemClock, systemIds, "rps")(player);
stop();
process.stdout.write(JSON.stringify({ left }));
await peers.close();
