import { GameFault } from "#shared/session/session.ts";
import type { AgentProcess } from "./agent.ts";
import { whereThrown } from "./files/thrown-position.ts";
import { placedFault, registeredFiles } from "./game-files.ts";
import type { Logger } from "./process/logger.ts";

/** The maximum number of different lines that are shown. Errors may differ only in values of the game, such as a number of actions. */
const MAX_SHOWN = 100;

/** Returns the position in the file of a registered game that an error names, with the error; null for other errors. */
function gameFaultOf(thrown: unknown): string | null {
  if (thrown instanceof GameFault) return placedFault(thrown.game, thrown.fault);
  if (!(thrown instanceof Error)) return null;
  const file = registeredFiles().find((path) => thrown.stack?.includes(path));
  return file === undefined ? null : whereThrown(thrown, file);
}

/**
 * Returns a function that shows each error of a game file once with `warn`, because the user of the terminal is often its author. The function returns
 * whether the value is an error of a game file.
 */
export function gameFaultDisplay(warn: (line: string) => void): (thrown: unknown) => boolean {
  const shown = new Set<string>();
  return (thrown) => {
    const fault = gameFaultOf(thrown);
    if (fault === null) return false;
    if (!shown.has(fault) && shown.size < MAX_SHOWN) {
      shown.add(fault);
      warn(fault);
    }
    return true;
  };
}

/** Returns the log of a process. It also shows each error of a game file once at the terminal. */
export function showingGameFaults({ log, warn }: Pick<AgentProcess, "log" | "warn">): Logger {
  const show = gameFaultDisplay(warn);
  return new Proxy(log, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return (...args: unknown[]) => {
        if (name === "error") show((args[0] as { readonly err?: unknown } | null)?.err);
        return member.apply(target, args);
      };
    },
  });
}
