import type { Clock } from "#shared/lib/clock.ts";
import type { BotPermissions } from "#shared/runtime/bot-permissions.ts";
import { permissionArgs } from "#shared/runtime/command-options.ts";
import { StartError } from "#shared/runtime/process/exit.ts";
import { createSupervisor } from "#shared/runtime/process/supervisor.ts";

/** A player process that was started with the bot of the user. */
interface BotProcess {
  /** Rejects with StartError if the process ends before it listens or cannot be kept running. Never resolves. */
  readonly failed: Promise<never>;
  /** Returns the last lines that the process has printed since the previous call. */
  takeOutput(): readonly string[];
  stop(): Promise<void>;
}

interface BotProcessOptions {
  readonly bot: string;
  readonly manager: string;
  readonly dataFolder: string;
  readonly allow: BotPermissions;
  readonly clock: Clock;
}

const NAME = "player";
const MAX_LINES = 5;

/** Starts `league join` with a bot in a separate process. */
export function startBot({ bot, manager, dataFolder, allow, clock }: BotProcessOptions): BotProcess {
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => {}); // the caller may have stopped waiting for it
  let lines: string[] = [];
  const supervisor = createSupervisor({
    clock,
    onEvent: () => {},
    onLine: (_, line) => {
      lines = [...lines, line].slice(-MAX_LINES);
    },
    onFatal: (message, exitCode) => failed.reject(new StartError([...lines, message].join("\n"), exitCode)),
  });
  const args = ["join", bot, "--name", NAME, "--manager", manager, "--data", dataFolder, ...permissionArgs(allow)];
  void supervisor.start({ name: NAME, script: "scripts/league.ts", args, isExpendable: true });
  return {
    failed: failed.promise,
    takeOutput() {
      const taken = lines;
      lines = [];
      return taken;
    },
    stop: () => supervisor.stop(),
  };
}
