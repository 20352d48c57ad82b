import type { AgentProcess } from "../agent.ts";
import { whereThrown } from "../files/thrown-position.ts";
import type { Logger } from "../process/logger.ts";
import { registeredFiles } from "./game-files.ts";

/** The maximum number of different lines that are shown. Errors may differ only in values of the game, such as a number of actions. */
const MAX_SHOWN = 100;

/** Returns the position at which the file of a registered game threw an error, with the error; null for other errors. */
function gameFaultOf(thrown: unknown): string | null {
  if (!(thrown instanceof Error)) return null;
  const file = registeredFiles().find((path) => thrown.stack?.includes(path));
  return file === undefined ? null : whereThrown(thrown, file);
}

/** Returns the log of a process. It also shows each error of a game file once at the terminal, because the user of the terminal is often its author. */
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
