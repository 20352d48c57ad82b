import type { AgentProcess } from "../agent.ts";
import { whereThrown } from "../files/thrown-position.ts";
import type { Logger } from "../process/logger.ts";
import { registeredFiles } from "./game-files.ts";

/** The number of different lines that are shown. A message of an error may contain values of a game. */
const MAX_SHOWN = 100;

/** Returns the position at which the file of a registered game threw an error, with the error; null for other errors. */
export function gameFaultOf(thrown: unknown): string | null {
  if (!(thrown instanceof Error)) return null;
  const file = registeredFiles().find((path) => thrown.stack?.includes(path));
  return file === undefined ? null : whereThrown(thrown, file);
}

/** Returns the log of a process. It shows each error of the file of a game once at the terminal too, because its author is often the reader. */
export function showingGameFaults({ log, warn }: Pick<AgentProcess, "log" | "warn">): Logger {
  const shown = new Set<string>();
  const show = (fields: unknown): void => {
    const fault = gameFaultOf((fields as { readonly err?: unknown } | null)?.err);
    if (fault === null || shown.has(fault) || shown.size >= MAX_SHOWN) return;
    shown.add(fault);
    warn(fault);
  };
  return new Proxy(log, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return (...args: unknown[]) => {
        if (name === "error") show(args[0]);
        return member.apply(target, args);
      };
    },
  });
}
