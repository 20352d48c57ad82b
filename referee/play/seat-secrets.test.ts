import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRandom } from "#shared/lib/rng.ts";
import { startTestHost, type TestHost } from "../rest/testing/host.ts";
import { type Observer, observe } from "../rest/testing/observer.ts";
import { createGame, joinGame, personTokens, watchGame } from "./testing/play.ts";
import { REQUEST_SURFACES } from "./testing/surfaces.ts";

let host: TestHost;
let observer: Observer;
beforeAll(async () => {
  host = await startTestHost();
  observer = observe(host);
});
afterAll(async () => {
  observer.close();
  await host.remove();
});

const seedOf = (gameId: string): string =>
  String(observer.value("SELECT seed FROM sessions WHERE session_id = ?", gameId));

const personOf = (gameId: string): string => personTokens(host, gameId).at(-1) ?? "";

/** All texts that a viewer can read of a game without making a move. */
async function readAll(gameId: string, token: string | null): Promise<string[]> {
  const texts: string[] = [];
  for (const { read } of Object.values(REQUEST_SURFACES)) texts.push(await read(host, gameId, token));
  const { tick } = (await host.call("GET", `/api/games/${gameId}`, token === null ? {} : { token })).json;
  for (const last of [undefined, "0"]) {
    const stream = await watchGame(host, gameId, token ?? undefined, last);
    if (last === undefined || tick > 0) await stream.next(); // else no event follows event 0
    stream.close();
    texts.push(stream.raw());
  }
  return texts;
}

const expectNoSecrets = (texts: readonly string[], secrets: readonly string[]): void => {
  for (const text of texts) for (const secret of secrets) expect(text).not.toContain(secret);
};

it("the board in an agent's answer does not show the agent's card to the person who sees it", async () => {
  const agent = await createGame(host, { template: "kuhn_poker", opponent: "human", play_as: "player_2" });
  const shown = await agent.wait({ showUi: true });
  const { player_2: card } = shown.value.state.cards;
  expect(shown.raw).toContain(`"player_2":"${card}"`);
  const board = JSON.stringify([shown.meta, shown.content[1]]);
  expect(board).not.toContain(`player_2 holds the ${card}`);
  expect(board).not.toContain(`"player_2":"${card}"`);
});

it.each([1, 2, 3])(
  "random game %i: no answer, rejection, stream or page contains a secret of another player",
  async (round) => {
    const random = createRandom(`play sealed ${round}`);
    const template = random.pick(["rps", "even_odd", "kuhn_poker"]);
    const bearers = { one: `bearer of one ${round}`, two: `bearer of two ${round}` };
    const one = await createGame(host, { template }, { bearer: bearers.one });
    const two = await joinGame(host, one.gameId, {}, { bearer: bearers.two });
    const streams = await Promise.all(
      [one.token, two.token, undefined].map((token) => watchGame(host, one.gameId, token)),
    );
    const received: Record<"one" | "two" | "spectator", string[]> = {
      one: [one.answer.raw],
      two: [two.answer.raw],
      spectator: [],
    };
    for (let left = 2; left > 0; ) {
      for (const [name, seat] of random.shuffle([["one", one] as const, ["two", two] as const])) {
        const { value, raw } = await seat.wait({ timeout_s: 0, showUi: true });
        received[name].push(raw);
        if (value.next === "game_over") left = 0;
        if (value.next !== "your_turn") continue;
        received[name].push((await seat.move("nonsense")).raw);
        received[name].push((await seat.move(random.pick(value.legal_actions))).raw);
        if (random.next() < 0.2) received.spectator.push(...(await readAll(one.gameId, null)));
      }
    }
    for (const [at, name] of (["one", "two", "spectator"] as const).entries()) {
      const stream = streams[at];
      while (await stream?.next());
      received[name].push(
        stream?.raw() ?? "",
        ...(await readAll(one.gameId, [one.token, two.token, null][at] ?? null)),
      );
    }
    const secrets = { one: [one.token, bearers.one], two: [two.token, bearers.two] };
    const seed = seedOf(one.gameId);
    expectNoSecrets(received.one, [...secrets.two, seed]);
    expectNoSecrets(received.two, [...secrets.one, seed]);
    expectNoSecrets(received.spectator, [...secrets.one, ...secrets.two, seed]);
  },
);

describe("the links of people in a game", () => {
  it("those of the spymasters are shown at the terminal, and not to the agent of a team", async () => {
    const agent = await createGame(host, { template: "codenames", play_as: "red_team", opponent: "human" });
    const { link, links, withheld } = agent.answer.value;
    expect(link).not.toContain("#seat=");
    expect([Object.keys(links), withheld]).toEqual([["blue_team"], ["blue_spymaster", "red_spymaster"]]);
    expect(agent.answer.text).toContain(
      "People play blue spymaster and red spymaster. Those seats see information that you may not know, so their links are not shown here: they are printed",
    );
    const texts = host.terminalLines.filter((line) => line.includes(agent.gameId));
    expect(texts.map((line) => /link for the player of (.+?): /.exec(line)?.[1])).toEqual([
      "blue spymaster",
      "red spymaster",
    ]);
    const shown = [agent.answer, await agent.wait({ timeout_s: 0, showUi: true })];
    for (const line of texts) {
      const [, token = ""] = /#seat=(\S+)/.exec(line) ?? [];
      const seen = (await host.call("GET", `/api/games/${agent.gameId}`, { token })).json;
      expect(seen.board).toContain("(assassin)");
      for (const { raw } of shown) expect(raw).not.toContain(token);
    }
  });

  it("all of them are shown to the agent of a spymaster", async () => {
    const agent = await createGame(host, { template: "codenames", play_as: "red_spymaster", opponent: "human" });
    const { links, withheld } = agent.answer.value;
    expect([Object.keys(links), withheld]).toEqual([["blue_spymaster", "blue_team", "red_team"], undefined]);
  });

  it.each(["rps", "even_odd", "kuhn_poker"])(
    "none of them is shown to the agent in %s, where each role has hidden information",
    async (template) => {
      const agent = await createGame(host, { template, opponent: "human" });
      const shown = await agent.wait({ timeout_s: 0, showUi: true });
      const token = personOf(agent.gameId);
      expect(token).not.toBe("");
      const role = agent.answer.value.withheld[0].replaceAll("_", " ");
      expect(agent.answer.text).toContain(
        `A person plays ${role}. That seat sees information that you may not know, so its link is`,
      );
      expect([agent.answer.value.links, agent.answer.value.withheld]).toEqual([{}, [expect.any(String)]]);
      for (const { raw } of [agent.answer, shown]) expect(raw).not.toContain(token);
    },
  );

  it("all of them are shown to the agent in a game without hidden information", async () => {
    const agent = await createGame(host, { template: "chess", opponent: "human" });
    expect(agent.link).toContain("#seat=");
    expect(agent.answer.value).not.toHaveProperty("withheld");
    expect(personOf(agent.gameId)).toBe("");
  });
});
