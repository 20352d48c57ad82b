import { systemClock } from "#shared/lib/clock.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { createPeers } from "#shared/rpc/peer/peer.ts";
import { useUpFiles } from "#shared/rpc/testing/no-free-files.ts";
import { hasLeft } from "../effects/endpoint-check.ts";

/** Checks without a free file descriptor whether the player at the given endpoint has left, and prints the result as JSON. */
const [endpoint = ""] = process.argv.slice(2);
const player = { id: "P01", kind: "player", name: "Ann", endpoint, tokenHash: "", dialect: "native" } as const;
const peers = createPeers({ clock: systemClock });
const closeFiles = await useUpFiles();
const left = await hasLeft(peers, systemClock, systemIds, "rps")(player);
process.stdout.write(JSON.stringify({ left }));
await closeFiles();
await peers.close();
