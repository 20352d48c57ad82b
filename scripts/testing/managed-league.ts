import { EventEmitter, once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { WAIT_MS } from "#shared/lib/testing/wait-options.ts";
import { Envelope } from "#shared/protocol/envelope.ts";
import { StartGame } from "#shared/protocol/messages.ts";
import { newEnvelope } from "#shared/protocol/testing/envelope.ts";
import { serveTools } from "#shared/rpc/testing/loopback.ts";
import { freePort } from "#shared/runtime/process/free-ports.ts";
import { played } from "../../league-manager/testing/results.ts";
import { callTool, newFolder, type Running, start } from "./processes.ts";

/** Starts a server that accepts every message to players and to a referee. `order` resolves with the manager's START_GAME payload for a match. */
async function startAgents() {
  const orders = new Map<string, StartGame>();
  const arrivals = new EventEmitter();
  const server = await serveTools(({ args }) => {
    const { type, payload } = Envelope.parse(args);
    if (type === "START_GAME") {
      const order = StartGame.parse(payload);
      orders.set(order.match_id, order);
      arrivals.emit("order");
    }
    return newEnvelope("START_GAME_RESPONSE", "referee:REF01", { status: "ACCEPTED" });
  });
  onTestFinished(server.close);
  return {
    url: server.url,
    async order(matchId: string): Promise<StartGame> {
      const signal = AbortSignal.timeout(WAIT_MS);
      for (;;) {
        const order = orders.get(matchId);
        if (order) return order;
        await once(arrivals, "order", { signal });
      }
    },
  };
}

/** Starts a manager process with the league `rps` and registers a referee. The league starts with its fourth player. The test reports the results of the matches. */
export async function startManagedLeague() {
  const agents = await startAgents();
  const folder = newFolder();
  const port = await freePort();
  const config = {
    manager: { port },
    leagues: [{ league_id: "rps", game: "rps.v1" }],
    timeouts: { default_ms: 5_000 },
  };
  writeFileSync(join(folder, "league.json"), JSON.stringify(config));
  const args = ["--config", join(folder, "league.json"), "--data", join(folder, "data"), "--players", "4"];
  const startManager = async (): Promise<Running> => {
    const manager = start("league-manager/main.ts", args);
    await manager.line(/league manager at http/);
    return manager;
  };
  const register = async (kind: "player" | "referee", name: string): Promise<Record<string, unknown>> => {
    const endpoint = `${agents.url}/${encodeURIComponent(name)}`;
    const { value } = await callTool(port, `register_${kind}`, { [`${kind}_name`]: name, endpoint });
    expect(value).toMatchObject({ status: "ACCEPTED" });
    return value;
  };
  let manager = await startManager();
  const authToken = String((await register("referee", "Referee")).auth_token);
  const players = new Map<string, { readonly name: string; wins: number; losses: number }>();
  return {
    url: `http://127.0.0.1:${port}`,
    async registerPlayers(...names: readonly string[]): Promise<void> {
      for (const name of names) {
        const { player_id } = await register("player", name);
        players.set(String(player_id), { name, wins: 0, losses: 0 });
      }
    },
    /** Reports these matches as won by `player_1`. */
    async reportWins(...matchIds: readonly string[]): Promise<void> {
      for (const matchId of matchIds) {
        const order = await agents.order(matchId);
        const message = newEnvelope("MATCH_RESULT", "referee:REF01", played(order), { authToken });
        const { value } = await callTool(port, "league_message", message);
        expect(value).toMatchObject({ payload: { status: "RECORDED" } });
        for (const [role, { player_id }] of Object.entries(order.roles)) {
          const player = players.get(player_id);
          if (player) player[role === "player_1" ? "wins" : "losses"]++;
        }
      }
    },
    /** Returns the expected row of each player in the standings, as `showsRows` expects it. */
    rows: (): readonly string[] =>
      [...players.values()].map(({ name, wins, losses }) => `${name} ${3 * wins} ${wins + losses} ${wins} 0 ${losses}`),
    async kill(): Promise<void> {
      manager.signal("SIGKILL");
      expect((await manager.ended).signal).toBe("SIGKILL");
    },
    async restart(): Promise<void> {
      manager = await startManager();
    },
  };
}
