import { afterEach, expect, it } from "vitest";
import { createRandom } from "#shared/lib/rng.ts";
import { clients, type TestClient } from "#shared/rpc/testing/mcp-clients.ts";
import type { RunningAgent } from "#shared/runtime/agent.ts";
import { startTestLeague, type TestLeague, type TestPlace, type TestPlayer } from "../../testing/in-process-league.ts";

let league: TestLeague | null = null;
afterEach(async () => {
  await league?.stop();
  league = null;
});

const LEAGUES = [
  { league_id: "rps", game: "rps.v1", options: { best_of: 5 } },
  { league_id: "ttt", game: "tic_tac_toe.v1" },
  { league_id: "kuhn", game: "kuhn_poker.v1" },
];

/** Returns the text of a tool's answer, which is what a model reads. */
async function textOf(answer: Promise<unknown>): Promise<string> {
  const { content } = (await answer) as { content: readonly { readonly text?: string }[] };
  return content.flatMap(({ text }) => text ?? []).join("\n");
}

/** Plays by the texts of the tools only, until its leagues are over. Collects the texts. */
async function playByText(client: TestClient, access: object, texts: string[]): Promise<void> {
  const random = createRandom("model");
  for (let text = ""; !text.includes("Your leagues are over"); ) {
    const [, turn, match] = /(Your turn in (\S+): .*?)(?=Your turn in|$)/s.exec(text) ?? [];
    const moves = /Legal moves[^:]*: (.*)/.exec(turn ?? "")?.[1]?.split(", ") ?? [];
    text =
      turn === undefined
        ? await textOf(client.call("wait_for_turn", access))
        : await textOf(client.call("make_move", { ...access, move: random.pick(moves), match_id: match }));
    texts.push(text);
  }
}

/** A player that is a client of the official SDK, with or without an MCP session. */
const model = (name: string, revision: string, texts: string[], playing: Promise<void>[]): TestPlayer => ({
  name,
  async start({ manager }: TestPlace): Promise<RunningAgent> {
    const client = await clients[revision]?.(manager);
    if (!client) throw new Error(`no client of ${revision}`);
    const joined = await textOf(client.call("join_league", { player_name: name }));
    texts.push(joined);
    const [, player_token = ""] = /player_token \(secret\): (\S+)/.exec(joined) ?? [];
    // In an MCP session the server knows the player; other clients pass the token.
    playing.push(playByText(client, revision === "2026-07-28" ? { player_token } : {}, texts));
    return { stop: () => client.close() };
  },
});

it.each(["2025-11-25", "2026-07-28"])(
  "a client of revision %s plays whole leagues by the texts of join_league, wait_for_turn and make_move",
  async (revision) => {
    const texts: string[] = [];
    const playing: Promise<void>[] = [];
    league = await startTestLeague({
      leagues: LEAGUES,
      players: [model("Model", revision, texts, playing), { name: "Bot", bot: "random" }],
    });
    const { leagues } = await league.completed;
    await Promise.all(playing);
    const played = leagues.flatMap(({ matches }) => matches.map(({ termination }) => termination));
    expect(played).toEqual(["normal", "normal", "normal"]);
    expect(texts[0]).toMatch(/^You are Model \(P01\)\. Your player_token/);
    const all = texts.join("\n");
    for (const { league_id } of LEAGUES) expect(all).toMatch(new RegExp(`(won|lost|No winner) in ${league_id}/R1M1`));
    expect(texts.at(-1)).toMatch(/League rps \(.*\) is over: rank [12] of 2/);
  },
);
