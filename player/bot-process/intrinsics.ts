import fs from "node:fs";
import { type FromBotProcess, PIPES } from "./messages.ts";

/**
 * The functions that this process calls after the bot file has begun to load, or that Node.js calls for it. A bot that replaces one of them in its
 * process can make the process wait for ever without a cause that the player could show.
 */
const NEEDED: readonly (readonly [owner: string, object: object, keys: readonly string[]])[] = [
  ["globalThis", globalThis, ["Buffer", "JSON", "process"]],
  ["Promise.prototype", Promise.prototype, ["then"]],
  ["Array.prototype", Array.prototype, ["push"]],
  ["Function.prototype", Function.prototype, ["apply", "bind", "call"]],
  ["Map.prototype", Map.prototype, ["delete", "get", "set"]],
  ["JSON", JSON, ["parse", "stringify"]],
  ["Buffer", Buffer, ["concat", "from"]],
  ["process", process, ["nextTick"]],
  ["fs", fs, ["writeSync"]],
];

interface Needed {
  readonly name: string;
  readonly object: Readonly<Record<PropertyKey, unknown>>;
  readonly key: PropertyKey;
  readonly value: unknown;
}

const neededOf = (name: string, object: object, key: PropertyKey): Needed => {
  const values = object as Needed["object"];
  return { name, object: values, key, value: values[key] };
};

const needed: readonly Needed[] = [
  ...NEEDED.flatMap(([owner, object, keys]) => keys.map((key) => neededOf(`${owner}.${key}`, object, key))),
  neededOf("Array.prototype[Symbol.iterator]", Array.prototype, Symbol.iterator),
  neededOf("next of the iterators of arrays", Object.getPrototypeOf([].values()), "next"),
];

const { writeSync } = fs;
const { exit } = process;

/**
 * Ends this process if the bot has replaced a function that the process needs, after a message that names it. Calls no function that the bot can
 * replace. The message begins with a line break, because the bot may have written to the pipe.
 */
export function endIfReplaced(): void {
  for (let index = 0; index < needed.length; index++) {
    const { name, object, key, value } = needed[index] as Needed;
    if (object[key] === value) continue;
    const message: FromBotProcess = {
      type: "not_loaded",
      fault: `it replaces ${name}, which its process needs; leave it unchanged`,
    };
    writeSync(PIPES.toPlayer, `\n{"type":"${message.type}","fault":"${message.fault}"}\n`);
    exit();
  }
}
