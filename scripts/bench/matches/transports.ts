import { freePorts } from "#shared/runtime/process/free-ports.ts";
import { launch, measure, type Rate, sleep } from "../process.ts";
import type { Sizes } from "./league.ts";

/** Calls with the client and the endpoint of this project, without a game, over each transport. */
export type TransportRates = Readonly<Record<"post" | "socket", Rate>>;

const ENDPOINTS = 4;

/** Measures the calls per second of one process to four others, by POST and over WebSockets. */
export async function transportRates(
  { warmupMs, windowMs }: { readonly warmupMs: number; readonly windowMs: number },
  sizes: Sizes,
  inFlight: number,
): Promise<TransportRates> {
  const rateOver = async (transport: "post" | "socket"): Promise<Rate> => {
    const ports = await freePorts(ENDPOINTS);
    const servers = await Promise.all(
      ports.map((port) => launch("scripts/bench/matches/calls.ts", ["serve", String(port), String(sizes.reply)])),
    );
    const urls = servers.flatMap((server) => server.urls);
    const args = ["call", transport, String(sizes.request), String(inFlight), ...urls];
    const client = await launch("scripts/bench/matches/calls.ts", args);
    await sleep(warmupMs);
    const rate = await measure(windowMs, () => client.ask<number>("count"), { client: [client], servers });
    await client.stop();
    await Promise.all(servers.map((server) => server.stop()));
    return rate;
  };
  return { post: await rateOver("post"), socket: await rateOver("socket") };
}
