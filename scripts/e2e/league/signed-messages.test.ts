import { afterEach, describe, expect, test } from "vitest";
import { hmacBase64Url, sha256Hex } from "#shared/lib/hash.ts";
import { signFor } from "#shared/protocol/signing.ts";
import { matchSeeds } from "../../../league-manager/league/league.ts";
import { type ControlledPlayer, controlledPlayer } from "../../testing/controlled-player.ts";
import { RUN_SEED, startTestLeague, type TestLeague } from "../../testing/in-process-league.ts";

let league: TestLeague | undefined;
afterEach(() => league?.stop());

const CHOICES = ["rock", "paper"];

/** Plays one match until both players have received its last notifications. */
async function playMatch(): Promise<readonly ControlledPlayer[]> {
  const players: ControlledPlayer[] = [];
  league = await startTestLeague({
    leagues: [{ league_id: "game", game: "rps.v1" }],
    players: CHOICES.map((_, index) => ({
      name: `Player${index + 1}`,
      async start({ manager, name }) {
        const transports = index === 1 ? ["websocket"] : undefined;
        const player = await controlledPlayer(manager.replace("/mcp", ""), name, transports);
        players.push(player);
        return { stop: async () => player.close() };
      },
    })),
  });
  for (const [index, player] of players.entries()) await player.answer(CHOICES[index]);
  await league.completed;
  for (const player of players) {
    for (const type of ["GAME_RESULT", "ROUND_END", "LEAGUE_STANDINGS_UPDATE"] as const) await player.receives(type);
  }
  return players;
}

describe("messages to a player", () => {
  test("arrive over a WebSocket if the player offers it, and otherwise by POST", async () => {
    const [byPost, overSocket] = (await playMatch()).map(({ received }) => {
      const isOverSocket = received.map(({ bytes }) => bytes.includes('"upgrade":"websocket"'));
      return { isOverSocket: new Set(isOverSocket), types: received.map(({ type }) => type) };
    });
    expect([byPost?.isOverSocket, overSocket?.isOverSocket]).toEqual([new Set([false]), new Set([true])]);
    expect(overSocket?.types).toEqual(expect.arrayContaining(["GAME_INVITE", "MOVE_REQUEST", "GAME_RESULT"]));
  });

  test("contain the commitment to the match's seed and the bot seed of its role, which is derived from that seed", async () => {
    const players = await playMatch();
    const seed = matchSeeds(RUN_SEED)("game", "R1M1", 1);
    for (const { received } of players) {
      const { your_role, ...invitation } = received.find(({ type }) => type === "GAME_INVITE")?.payload ?? {};
      const seeds = { seed_commitment: sha256Hex(seed), bot_seed: hmacBase64Url(seed, String(your_role)) };
      expect(invitation).toMatchObject(seeds);
    }
  });

  test("are signed with its token for the match, and notifications of the league for the league", async () => {
    for (const { token, received } of await playMatch()) {
      const key = sha256Hex(token);
      const subjects = received.map(({ type, payload: { match_id }, signature }) => {
        const subject = match_id === undefined ? "game" : `game/${match_id}`;
        return { type, subject, signature };
      });
      expect(subjects).toEqual(subjects.map((one) => ({ ...one, signature: signFor(key, one.subject) })));
      const ofLeague = subjects.filter(({ subject }) => subject === "game").map(({ type }) => type);
      expect(ofLeague).toEqual(["ROUND_ANNOUNCEMENT", "ROUND_START", "ROUND_END", "LEAGUE_STANDINGS_UPDATE"]);
    }
  });
});
