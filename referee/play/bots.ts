import { builtInBots, builtInOpponents, playsGame } from "#shared/games/built-in-bots.ts";
import type { Role } from "#shared/games/game.ts";
import type { Opponent } from "#shared/games/new-game-choices.ts";
import { isBuiltIn } from "#shared/games/registry.ts";
import type { Clock } from "#shared/lib/clock.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { matchRef } from "#shared/lib/ids.ts";
import { messageOf } from "#shared/lib/result.ts";
import type { StartGame } from "#shared/protocol/messages.ts";
import { signFor } from "#shared/protocol/signing.ts";
import type { Disk } from "#shared/runtime/files/disk.ts";
import { freePort } from "#shared/runtime/process/free-ports.ts";
import type { Logger } from "#shared/runtime/process/logger.ts";
import { createSupervisor, type Supervisor } from "#shared/runtime/process/supervisor.ts";
import { readOrCreateSecret, tokenFileOf } from "#shared/runtime/secret-file.ts";
import type { Session } from "#shared/session/session.ts";
import { type HostedDriver, MatchWithdrawn, playSeats } from "../match/play-match.ts";
import { sessionOf } from "../sessions/host.ts";
import { GameNotLoaded } from "../sessions/rejections.ts";
import type { EngineOpponent } from "./engines.ts";
import type { AvailableBots } from "./play.ts";

interface BotsContext {
  readonly driver: HostedDriver;
  /** The endpoints of bots that are already running, by name. */
  readonly known: ReadonlyMap<string, string>;
  /** The chess engines that are installed. */
  readonly engines: readonly EngineOpponent[];
  readonly dataFolder: string;
  readonly disk: Disk;
  readonly log: Logger;
  readonly clock: Clock;
  readonly timeouts: StartGame["timeouts"];
}

interface Bots extends AvailableBots {
  /** Stops the bots. Their games stay active, and `resume` continues them after a restart. */
  close(): Promise<void>;
}

/** The game of the engines. */
const ENGINE_GAME = "chess.v1";

/** A player that the operator of this host has named. Its strength is not known. */
const otherOpponent = (bot: string): Opponent => ({ bot, level: null, description: "a player of this server" });

/** The levels, the weakest first. A player of unknown strength comes after all levels. */
const LEVELS: readonly Opponent["level"][] = ["very easy", "easy", "medium", "hard", "very hard", null];
const rankOf = ({ level }: Opponent): number => LEVELS.indexOf(level);

/** The league of the matches that bots play against agents and people. */
const LEAGUE = "friendly";

/**
 * Creates the bots that play against agents and people: bots at known endpoints, and built-in bots and engines in separate player processes. All of them
 * are asked over the wire, like the players of a league.
 */
export function createBots({ driver, known, engines, dataFolder, disk, log, clock, timeouts }: BotsContext): Bots {
  const stopping = new AbortController();
  const playing = new Set<Promise<void>>();
  const secretFile = tokenFileOf(dataFolder, "player", "bots");
  const specs = new Map(engines.map(({ bot, spec }) => [bot, spec]));
  const names = [...new Set([...builtInBots, ...known.keys(), ...specs.keys()])].sort();
  const processes = new BotProcesses({ dataFolder, secretFile, specs, log, clock }, stopping.signal);
  const plays = (name: string, gameId: string): boolean =>
    names.includes(name) && (known.has(name) || !specs.has(name) ? playsGame(name, gameId) : gameId === ENGINE_GAME);

  const drive = async (sessionId: string, role: Role, bot: string): Promise<void> => {
    try {
      const session = sessionOf(driver, sessionId);
      const endpoint = known.get(bot) ?? (await processes.endpointOf(bot));
      const secret = known.has(bot) ? null : readOrCreateSecret({ disk, ids: driver.ids }, secretFile);
      const order = { ...orderFor(driver.host, session, role, { bot, endpoint, secret }), timeouts };
      await playSeats(driver, order, sessionId, stopping.signal);
    } catch (thrown) {
      if (thrown instanceof MatchWithdrawn || stopping.signal.aborted) return;
      // The game waits until the host is started with it again.
      if (thrown instanceof GameNotLoaded) return;
      log.error({ err: thrown, session: sessionId }, "a bot could not play because of an internal error");
      await driver.host.abort(sessionId, "bot_failed");
    }
  };

  return {
    names,
    plays,
    opponentsIn: (gameId) =>
      [
        ...builtInOpponents(gameId),
        ...(gameId === ENGINE_GAME ? engines.map(({ spec: _, ...opponent }) => opponent) : []),
        ...[...known.keys()].filter((name) => !builtInBots.includes(name)).map(otherOpponent),
      ].toSorted((one, other) => rankOf(one) - rankOf(other)),
    play(sessionId, role, bot) {
      if (!names.includes(bot)) {
        // The bot was known when the game was created. The game waits until the host is started with it again.
        log.warn({ bot, session: sessionId }, "this bot is no longer available");
        return;
      }
      const driven = drive(sessionId, role, bot)
        .catch((thrown) => log.error({ err: thrown, session: sessionId }, messageOf(thrown)))
        .finally(() => playing.delete(driven));
      playing.add(driven);
    },
    async close() {
      stopping.abort();
      await Promise.all(playing);
      await processes.stop();
    },
  };
}

interface SeatedBot {
  readonly bot: string;
  readonly endpoint: string;
  /** The secret that signs its messages; null for a bot without one. */
  readonly secret: string | null;
}

/** The order of a match with the seats of a session, for the driver. Only the seat of the bot has an endpoint. */
function orderFor(host: HostedDriver["host"], session: Session, role: Role, { bot, endpoint, secret }: SeatedBot) {
  const sessionId = session.id;
  // Each seat has a separate match id, because one player may have several seats of a game and distinguishes its matches by their ids.
  const match_id = `${sessionId}-${role}`;
  // The token is the same after a restart, because a player accepts messages about a match only with the token of its invitation.
  const tokenOf = (seat: Role): string =>
    seat === role && secret !== null
      ? signFor(sha256Hex(secret), matchRef(LEAGUE, match_id))
      : (host.secret(sessionId, `match_token/${seat}`) ?? "");
  const playerOf = (seat: Role) => ({
    player_id: seat === role ? bot : seat,
    endpoint: seat === role ? endpoint : "",
    match_token: tokenOf(seat),
    dialect: "native",
    // The process of a bot does not know the games of files.
    legal_actions: !isBuiltIn(session.game.id),
    round_results: false,
  });
  return {
    league_id: LEAGUE,
    match_id,
    round_id: 1,
    epoch: 1,
    game: session.game.id,
    options: session.options as StartGame["options"],
    roles: Object.fromEntries(session.game.roles.map((seat) => [seat, playerOf(seat)])),
    seed: host.secret(sessionId, "bots") ?? "",
  };
}

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
class BotProcesses {
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
      "--bot",
      specs.get(bot) ?? bot,
      "--name",
      `bot-${bot}-${port}`,
      "--port",
      String(port),
      "--no-manager",
      "--secret-file",
      secretFile,
      "--data",
      dataFolder,
    ];
  }
}
