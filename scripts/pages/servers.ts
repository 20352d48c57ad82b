import type { RunningAgent } from "#shared/runtime/agent.ts";
import { startTestHost } from "../../referee/rest/testing/host.ts";
import { controlledPlayer } from "../testing/controlled-player.ts";
import { startTestLeague, type TestPlayer } from "../testing/in-process-league.ts";
import { startReportedLeagues } from "../testing/reported-leagues.ts";
import { type GameLinks, startGames } from "./games.ts";
import { LEAGUES } from "./leagues.ts";

/** The servers whose pages are shown. */
export interface Servers {
  /** The manager of LEAGUES. */
  readonly leagues: string;
  /** The operator token of that manager. */
  readonly operatorToken: string;
  /** The manager of a league whose only match is being played. */
  readonly live: string;
  /** The referee of that match. */
  readonly referee: string;
  /** A session host. */
  readonly host: string;
  readonly games: GameLinks;
  close(): Promise<void>;
}

/** The address of the manager for other machines. The pages show it with a QR code. */
const PUBLIC_ADDRESS = "http://192.168.0.7:8000/mcp";

/** Starts all servers in this process. */
export async function startServers(): Promise<Servers> {
  const [leagues, live, host] = await Promise.all([
    startReportedLeagues(LEAGUES, { endpoint: PUBLIC_ADDRESS }),
    startLiveLeague(),
    startTestHost(),
  ]);
  const games = await startGames(host);
  return {
    leagues: leagues.url,
    operatorToken: leagues.operatorToken,
    live: live.manager,
    referee: live.referee,
    host: host.url,
    games,
    async close() {
      await Promise.all([leagues.close(), live.close(), host.remove()]);
    },
  };
}

/** The moves of the match that is being played. White is to move. */
const MOVES = ["e2e4", "c7c5", "g1f3", "d7d6", "d2d4", "c5d4"];
/** Long enough for all screenshots. */
const CLOCK = { initial_ms: 600_000, increment_ms: 5_000 };

/** Starts a league of a real referee and two players that stop answering after MOVES. */
async function startLiveLeague() {
  const played = Promise.withResolvers<void>();
  const player = (name: string): TestPlayer => ({
    name,
    async start({ manager }): Promise<RunningAgent> {
      const started = await controlledPlayer(new URL(manager).origin, name);
      void (async () => {
        const { your_role } = await started.invitation();
        for (const [index, move] of MOVES.entries())
          if ((index % 2 === 0 ? "white" : "black") === your_role) await started.answer(move);
        await started.asked();
        played.resolve();
      })();
      return { stop: async () => started.close() };
    },
  });
  const league = await startTestLeague({
    leagues: [{ league_id: "live", game: "chess.v1", clock: CLOCK }],
    players: [player("Ann-Kathrin"), player("Бен")],
    timeouts: { match_ms: 86_400_000 },
  });
  await played.promise;
  return {
    manager: new URL(league.manager).origin,
    referee: new URL(league.refereeUrls[0] ?? "").origin,
    close: () => league.stop(),
  };
}
