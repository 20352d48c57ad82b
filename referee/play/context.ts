import type { Role } from "#shared/games/game.ts";
import type { Opponent } from "#shared/games/new-game-choices.ts";
import type { Clock } from "#shared/lib/clock.ts";
import type { Ids } from "#shared/lib/ids.ts";
import type { Writer } from "#shared/store/writer.ts";
import type { AgentDirectory } from "../agents.ts";
import type { SessionHost } from "../sessions/host.ts";
import type { SeatTable } from "../sessions/seats.ts";

/** The bots that can take a seat. */
export interface AvailableBots {
  /** The names of the built-in bots, of the bots with known endpoints and of the engines. */
  readonly names: readonly string[];
  /** Whether a bot of this name plays a game. */
  plays(name: string, gameId: string): boolean;
  /** The bots that a person can choose in a game, the weakest first. */
  opponentsIn(gameId: string): readonly Opponent[];
  /** Starts to play a seat of a session, which may be older than this process. */
  play(sessionId: string, role: Role, bot: string): void;
}

/** The parts that games outside of leagues use. */
export interface PlayContext {
  readonly host: SessionHost;
  readonly agents: AgentDirectory;
  readonly seats: SeatTable;
  readonly writer: Writer;
  readonly bots: AvailableBots;
  readonly ids: Ids;
  readonly clock: Pick<Clock, "now">;
  /** The URL of the pages, e.g. `http://127.0.0.1:8001`. */
  readonly pagesUrl: () => string;
  /** Shows a line at the terminal of this host. The line may contain a secret, so it must not be logged. */
  readonly showAtTerminal: (line: string) => void;
}
