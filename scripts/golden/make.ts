import { fork } from "node:child_process";
import { once } from "node:events";
import { availableParallelism, tmpdir } from "node:os";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { messageOf } from "#shared/lib/result.ts";
import { PARTS, type Texts } from "./parts.ts";

/**
 * Makes parts of the record in separate processes, as many at the same time as there are processors. `seeds`: how many seeds of each game are played.
 * Rejects if a part cannot be made. `onPart` is called after each part.
 */
export async function makeParts(
  names: readonly string[],
  seeds: number,
  onPart: (name: string) => void,
): Promise<Texts> {
  const texts = new Map<string, string>();
  const waiting = [...names];
  const work = async (): Promise<void> => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      for (const [file, text] of await madeInProcess(name, seeds)) texts.set(file, text);
      onPart(name);
    }
  };
  await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, work));
  return texts;
}

/** Answers of the process of a part. */
type Made = { readonly texts: readonly (readonly [string, string])[] } | { readonly error: string };

const SELF = fileURLToPath(import.meta.url);

async function madeInProcess(name: string, seeds: number): Promise<Texts> {
  // No variable of the environment is passed on that could change a default. Engines in the PATH would be listed as opponents.
  const env = { PATH: dirname(process.execPath), HOME: tmpdir(), TZ: "UTC", MCP_DISABLE_BROWSER: "1" };
  const child = fork(SELF, [name, String(seeds)], { env, stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const made = new Promise<Made>((resolve) => child.once("message", (message) => resolve(message as Made)));
  const exited = once(child, "exit").then((): Made => ({ error: "its process ended" }));
  const answer = await Promise.race([made, exited]);
  if ("error" in answer) throw new Error(`the part ${name} cannot be made: ${answer.error}`);
  await exited;
  return new Map(answer.texts);
}

/** Makes one part in this process and sends it to the parent. */
async function makeHere(name: string, seeds: number): Promise<void> {
  const send = (made: Made): void => void process.send?.(made, () => process.exit(0));
  try {
    const part = PARTS.find((one) => one.name === name);
    if (!part) throw new Error("there is no such part");
    send({ texts: [...(await part.make(seeds))] });
  } catch (thrown) {
    send({ error: thrown instanceof Error ? (thrown.stack ?? thrown.message) : messageOf(thrown) });
  }
}

const [, script, part, seeds] = process.argv;
if (script === SELF && part !== undefined) {
  process.on("disconnect", () => process.exit(1));
  await makeHere(part, Number(seeds));
}
