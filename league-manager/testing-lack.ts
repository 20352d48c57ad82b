import { openSync } from "node:fs";
import { pause, systemClock } from "#shared/lib/clock.ts";
import { createPeers } from "#shared/rpc/peer.ts";
import { newAgent } from "./agents.ts";
import { hasLeft } from "./presence.ts";

/** Opens files up to the limit of the process, asks whether the player at the given endpoint has left, and prints the answer. */
const [endpoint = ""] = process.argv.slice(2);
const about = { gameTypes: [], wantsLegalActions: false, wantsRoundResults: false, takesBatches: false };
const player = newAgent("P01", {
  ...{ kind: "player", name: "Ann", endpoint, ...about },
  ...{ maxConcurrent: 0, remoteAddress: "127.0.0.1", token: null },
});
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
// Node may close files of its own a moment later. This ends when it has closed none for 50 ms.
while (await pause(50, new AbortController().signal)) if (takeAll() === 0) break;
const left = await hasLeft(peers, "league_manager:LM01", "rps")(player);
process.stdout.write(JSON.stringify({ left }));
await peers.close();
