import type { Clock } from "#shared/lib/clock.ts";
import { freePort } from "#shared/runtime/process/free-ports.ts";
import type { Logger } from "#shared/runtime/process/logger.ts";
import { createSupervisor, type Supervisor } from "#shared/runtime/process/supervisor.ts";

interface BotProcessesContext {
  readonly dataFolder: string;
  /** The file of the secret that the bots share. */
  readonly secretFile: string;
  /** The texts that select bots for a player process, by the names of the bots; by default the name. */
  readonly specs: ReadonlyMap<string, string>;
  readonly log: Logger;
  readonly clock: Clock;
}

/** The maximum number of restarts of a bot process. After that the next game that needs the bot starts a new supervisor. */
const MAX_RESTARTS = 100;

/** The processes of the built-in bots and engines. Each starts with the first game that needs it. */
export class BotProcesses {
  readonly #context: BotProcessesContext;
  readonly #stopping: AbortSignal;
  /** The endpoints of the bots, by name. */
  readonly #started = new Map<string, Promise<string>>();
  readonly #supervisors = new Set<Supervisor>();

  constructor(context: BotProcessesContext, stopping: AbortSignal) {
    this.#context = context;
    this.#stopping = stopping;
  }

  /** Resolves with the endpoint of a bot when its process listens. Rejects if the process cannot be started. */
  endpointOf(bot: string): Promise<string> {
    const endpoint = this.#started.get(bot) ?? this.#start(bot);
    this.#started.set(bot, endpoint);
    return endpoint.catch((thrown) => {
      if (this.#started.get(bot) === endpoint) this.#started.delete(bot);
      throw thrown;
    });
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#supervisors].map((supervisor) => supervisor.stop()));
  }

  /** Starts the process of a bot under a separate supervisor. Rejects if the process fails too often or the host stops before it listens. */
  async #start(bot: string): Promise<string> {
    const port = await freePort();
    this.#stopping.throwIfAborted();
    const failed = Promise.withResolvers<never>();
    this.#stopping.addEventListener("abort", () => failed.reject(this.#stopping.reason));
    const supervisor = createSupervisor({
      clock: this.#context.clock,
      maxRestarts: MAX_RESTARTS,
      onEvent: () => {},
      onLine: (name, line) => this.#context.log.info({ bot: name }, line),
      onFatal: (message) => {
        this.#started.delete(bot); // the next game starts the bot again
        this.#supervisors.delete(supervisor);
        failed.reject(new Error(message));
      },
    });
    this.#supervisors.add(supervisor);
    const running = supervisor.start({ name: bot, script: "player/main.ts", args: this.#argumentsOf(bot, port) });
    return `${await Promise.race([running, failed.promise])}/mcp`;
  }

  #argumentsOf(bot: string, port: number): string[] {
    const { secretFile, dataFolder, specs } = this.#context;
    return [
      ...["--bot", specs.get(bot) ?? bot],
      ...["--name", `bot-${bot}-${port}`],
      ...["--port", String(port)],
      "--no-manager",
      ...["--secret-file", secretFile],
      ...["--data", dataFolder],
    ];
  }
}
