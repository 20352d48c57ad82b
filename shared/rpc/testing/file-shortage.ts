import { systemClock } from "../../lib/clock.ts";
import { newEnvelope } from "../../protocol/testing/envelope.ts";
import { createPeers } from "../peer/peer.ts";
import { useUpFiles } from "./no-free-files.ts";

/** Calls the endpoint of its argument while this process can open no more files, and waits for an answer until files are closed. Prints the results of the calls. */
const [endpoint = ""] = process.argv.slice(2);
const envelope = newEnvelope("ROUND_START", "league_manager:LM01", { league_id: "rps", round_id: 1 });
const peers = createPeers({ clock: systemClock });
const closeFiles = await useUpFiles();
const notified = await peers.notify(endpoint, envelope, { timeoutMs: 250 });
const rejection = await peers.message(endpoint, envelope, { timeoutMs: 250 }).then(
  () => "answered",
  (thrown: NodeJS.ErrnoException) => thrown.code,
);
const waiting = peers.message(endpoint, envelope, { timeoutMs: 20_000 });
setTimeout(closeFiles, 250);
const answered = (await waiting).ok;
process.stdout.write(JSON.stringify({ notified, rejection, answered }));
await peers.close();
