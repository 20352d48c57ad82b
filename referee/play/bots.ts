import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Role } from "#shared/games/game.ts";
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
import { ownSecret, tokenFileOf } from "#shared/runtime/secret-file.ts";
import { type MatchDriver, MatchWithdrawn } from "../match/driven-match.ts";
import { playSeats } from "../match/play-match.ts";
import type { BotHouse } from "./play.ts";

/** The files of the player's built-in bots, by name; a referee knows players by their programs and addresses alone. */
const BOT_FILES = fileURLToPath(new URL("../../player/bots/", import.meta.url));
const builtIn = readdirSync(BOT_FILES).flatMap((file) => (/^(?!uci)\w+\.ts$/.test(file) ? [file.slice(0, -3)] : []));

export interface BotsDesk {
  readonly driver: MatchDriver;
  /** Bots that run already, by name: their endpoints. */
  readonly known: ReadonlyMap<string, string>;
  readonly dataFolder: string;
  readonly disk: Disk;
  readonly log: Logger;
  readonly clock: Clock;
  readonly timeouts: StartGame["timeouts"];
}

export interface Bots extends BotHouse {
  /** Leaves the games as they are; `resume` goes on with them after a restart. */
  close(): Promise<void>;
}

/** The league of the matches that bots play against agents and people. */
const LEAGUE = "friendly";
/** How often a bot's process that has listened is started again; after that the next game that wants it begins anew. */
const MAX_RESTARTS = 100;

/**
 * Players that a host lets play against agents and people: known endpoints, and the built-in bots, each a player process of its own,
 * started when it is first wanted. All are asked over the wire, like any player of a league.
 */
export function createBots({ driver, known, dataFolder, disk, log, clock, timeouts }: BotsDesk): Bots {
  const stopping = new AbortController();
  const started = new Map<string, Promise<string>>();
  const supervisors = new Set<Supervisor>();
  const playing = new Set<Promise<void>>();
  const secretFile = tokenFileOf(dataFolder, "player", "bots");
  const names = [...new Set([...builtIn, ...known.keys()])].sort();

  /** Starts a bot's process under a supervisor of its own; rejects when it cannot be kept alive or the host stops before it listens. */
  const start = async (bot: string): Promise<string> => {
    const port = await freePort();
    stopping.signal.throwIfAborted();
    const failed = Promise.withResolvers<never>();
    stopping.signal.addEventListener("abort", () => failed.reject(stopping.signal.reason));
    const supervisor = createSupervisor({
      clock,
      maxRestarts: MAX_RESTARTS,
      onEvent: () => {},
      onLine: (name, line) => log.info({ bot: name }, line),
      onFatal(message) {
        started.delete(bot); // the next game tries again
        supervisors.delete(supervisor);
        failed.reject(new Error(message));
      },
    });
    supervisors.add(supervisor);
    const args = [
      "--bot",
      bot,
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
    const running = supervisor.start({ name: bot, script: "player/main.ts", args });
    return `${await Promise.race([running, failed.promise])}/mcp`;
  };

  const endpointOf = async (bot: string): Promise<string> => {
    const at = known.get(bot);
    if (at !== undefined) return at;
    const endpoint = started.get(bot) ?? start(bot);
    started.set(bot, endpoint);
    return endpoint.catch((thrown) => {
      if (started.get(bot) === endpoint) started.delete(bot);
      throw thrown;
    });
  };

  const drive = async (sessionId: string, role: Role, bot: string): Promise<void> => {
    try {
      const endpoint = await endpointOf(bot);
      const secret = known.has(bot) ? null : ownSecret({ disk, ids: driver.ids }, secretFile);
      const order = { ...orderFor(driver.host, sessionId, role, { bot, endpoint, secret }), timeouts };
      await playSeats(driver, order, sessionId, stopping.signal);
    } catch (thrown) {
      if (thrown instanceof MatchWithdrawn || stopping.signal.aborted) return;
      log.error({ err: thrown, session: sessionId }, "a bot could not play, through our fault");
      await driver.host.abort(sessionId, "bot_failed");
    }
  };

  return {
    names,
    play(sessionId, role, bot) {
      if (!names.includes(bot)) {
        // It was known when the game began, and may be again after the next restart; until then the game waits.
        log.warn({ bot, session: sessionId }, "this bot is not known here any more");
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
      await Promise.all([...supervisors].map((supervisor) => supervisor.stop()));
    },
  };
}

interface SeatedBot {
  readonly bot: string;
  readonly endpoint: string;
  /** The secret that signs its messages; null for a bot without one. */
  readonly secret: string | null;
}

/** The session as a bot is asked about it: a match of a league of its own, of which only the bot's seat is asked. */
function orderFor(host: MatchDriver["host"], sessionId: string, role: Role, { bot, endpoint, secret }: SeatedBot) {
  const session = host.read(sessionId)?.session;
  if (!session) throw new Error(`session ${sessionId} is not in the log`);
  // A match id for each seat: one player may have several seats of a game, and tells its matches apart by their ids.
  const match_id = `${sessionId}-${role}`;
  // The same after a restart: a player accepts messages about a match only with the token of its invitation.
  const tokenOf = (one: Role): string =>
    one === role && secret !== null
      ? signFor(sha256Hex(secret), matchRef(LEAGUE, match_id))
      : (host.secret(sessionId, `match_token/${one}`) ?? "");
  const seat = (one: Role) => ({
    player_id: one === role ? bot : one,
    endpoint: one === role ? endpoint : "",
    match_token: tokenOf(one),
    dialect: "native",
    legal_actions: false,
    round_results: false,
    batch: false,
  });
  return {
    league_id: LEAGUE,
    match_id,
    round_id: 1,
    epoch: 1,
    game: session.game.id,
    options: session.options as StartGame["options"],
    roles: Object.fromEntries(session.game.roles.map((one) => [one, seat(one)])),
    seed: host.secret(sessionId, "bots") ?? "",
  };
}
