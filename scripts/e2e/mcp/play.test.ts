import { afterEach, describe, expect, it } from "vitest";
import { createRandom } from "#shared/lib/rng.ts";
import { clients, type TestClient } from "#shared/rpc/testing/mcp-clients.ts";
import { startTestHost, type TestHost } from "../../../referee/rest/testing/host.ts";

let host: TestHost | null = null;
const connected: TestClient[] = [];
afterEach(async () => {
  for (const client of connected.splice(0)) await client.close();
  await host?.remove();
  host = null;
});

async function connect(revision: string): Promise<TestClient> {
  host ??= await startTestHost();
  const client = await clients[revision]?.(`${host.url}/mcp`);
  if (!client) throw new Error(`no client of ${revision}`);
  connected.push(client);
  return client;
}

/** Returns the text of a tool's answer, which is what an LLM reads. */
async function textOf(answer: Promise<unknown>): Promise<string> {
  const { content } = (await answer) as { content: readonly { readonly type: string; readonly text?: string }[] };
  return content.flatMap(({ text }) => text ?? []).join("\n");
}

/** Returns the first group of a pattern. Throws if the text does not match. */
const firstGroup = (text: string, pattern: RegExp): string => {
  const [, value] = pattern.exec(text) ?? [];
  if (value === undefined) throw new Error(`no ${pattern} in: ${text}`);
  return value;
};

interface Seat {
  readonly client: TestClient;
  readonly game_id: string;
  readonly seat_token: string;
}

const seatIn = (client: TestClient, text: string): Seat => ({
  client,
  game_id: firstGroup(text, /Game ([\w-]+)\./),
  seat_token: firstGroup(text, /seat_token \(secret, shown once\): ([\w-]+)/),
});

/** Plays a seat by the texts of the tools only: waits for its turns and makes random legal moves until the game is over. */
async function playByText({ client, ...seat }: Seat, seed: string): Promise<{ moves: string[]; last: string }> {
  const random = createRandom(seed);
  const moves: string[] = [];
  for (let text = await textOf(client.call("waitForNextTurn", seat)); ; ) {
    if (text.includes("The game is over")) return { moves, last: text };
    if (text.includes("Your turn")) {
      const move = random.pick(firstGroup(text, /Legal moves[^:]*: (.*)/).split(", "));
      moves.push(move);
      text = await textOf(client.call("finishTurn", { ...seat, move }));
    } else text = await textOf(client.call("waitForNextTurn", seat));
  }
}

/** Creates a game with one client and joins it by its id with another one. */
async function openGame(game: object, creator: string, joiner: string): Promise<readonly [Seat, Seat]> {
  const one = await connect(creator);
  const two = await connect(joiner);
  const first = seatIn(one, await textOf(one.call("createGame", { ...game, opponent: "agent" })));
  const second = seatIn(two, await textOf(two.call("joinGame", { game_id: first.game_id })));
  return [first, second];
}

const logOf = async ({ game_id, seat_token }: Seat): Promise<readonly { role: string; action: unknown }[]> =>
  (await host?.call("GET", `/sessions/${game_id}/log`, { token: seat_token }))?.json.actions;

describe("two MCP clients that read only the texts of tools", () => {
  it.each([
    ["chess", "2025-11-25", "2026-07-28"],
    ["rps", "2026-07-28", "2024-11-05"],
  ])("play a game of %s to the end (%s against %s)", async (template, creator, joiner) => {
    const options = template === "rps" ? { best_of: 9 } : {};
    const [first, second] = await openGame({ template, options }, creator, joiner);
    const [one, two] = await Promise.all([playByText(first, "one"), playByText(second, "two")]);
    const winners = [one, two].filter(({ last }) => last.includes("You have won")).length;
    const losers = [one, two].filter(({ last }) => last.includes("You have lost")).length;
    expect([winners, losers]).toEqual(one.last.includes("no winner") ? [0, 0] : [1, 1]);
    const log = await logOf(first);
    const roles = template === "rps" ? ["player_1", "player_2"] : ["white", "black"];
    for (const [index, { moves }] of [one, two].entries()) {
      expect(log.filter(({ role }) => role === roles[index]).map(({ action }) => action)).toEqual(moves);
    }
  });
});

describe("a client that is closed during a game", () => {
  it("can be replaced by another client with the token of its seat", async () => {
    const [first, second] = await openGame({ template: "tic_tac_toe" }, "2025-11-25", "2026-07-28");
    const opening = await textOf(first.client.call("finishTurn", { ...argsOf(first), move: "b2" }));
    expect(opening).toContain("Waiting for o");
    const waiting = first.client.call("waitForNextTurn", argsOf(first));
    await first.client.close();
    await expect(waiting).rejects.toThrow();
    const replacement = { ...first, client: await connect("2026-07-28") };
    const [one, two] = await Promise.all([playByText(replacement, "replacement"), playByText(second, "two")]);
    expect(one.last).toContain("The game is over");
    expect(await logOf(second)).toHaveLength(1 + one.moves.length + two.moves.length);
  });
});

const argsOf = ({ game_id, seat_token }: Seat) => ({ game_id, seat_token });
