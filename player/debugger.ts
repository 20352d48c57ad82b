import { StartError } from "#shared/runtime/process/exit.ts";

/** Waits until a debugger is connected to this process at `HOST:PORT`. Throws StartError if the port is in use. */
export async function waitForDebugger(address: string): Promise<void> {
  const inspector = await import("node:inspector");
  const [host, port] = address.split(":");
  inspector.open(Number(port), host); // prints the URL
  if (inspector.url() === undefined) throw new StartError(`${address} is in use; choose another --inspect-port`);
  inspector.waitForDebugger();
}
