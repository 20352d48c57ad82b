import { openSync } from "node:fs";
import { systemClock } from "#shared/lib/clock.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { createPeers } from "#shared/rpc/peer/peer.ts";
import { hasLeft } from "../effects/presence.ts";

/** Opens files up to the limit of the process, asks whether the player at the given endpoint has left, and prints the answer. */
const [endpoint = ""] = process.argv.slice(2);
const player = { id: "P01", name: "Ann", endpoint, tokenHash: "" };
const peers = createPeers({ clock: systemClock });
/** Opens files until no more can be; returns how many. */
const takeAll = (): number => {
  for (let taken = 0; ; taken++) {
    try {
      openSync("/dev/null", "r");
    } catch {
      return taken;
    }
  }
};
takeAll();
// Node may close internal files a moment later. This ends when it has closed none for 50 ms.
do await systemClock.pause(50);
while (takeAll() > 0);
const left = await hasLeft(peers, systemClock, systemIds, "rps")(player);
process.stdout.write(JSON.stringify({ left }));
await peers.close();
