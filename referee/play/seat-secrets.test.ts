import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRandom } from "#shared/lib/rng.ts";
import { startTestHost, type TestHost } from "../rest/testing/host.ts";
import { type Observer, observe } from "../rest/testing/rest.ts";
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
  observer.rows("SELECT seed FROM sessions WHERE session_id = ?", gameId)[0].seed;

const personOf = (gameId: string): string => personTokens(host, gameId).at(-1) ?? "";

/** Every byte that one viewer can get of a game without moving. */
async function everything(gameId: string, token: string | null): Promise<string[]> {
  const said: string[] = [];
  for (const { read } of Object.values(REQUEST_SURFACES)) said.push(await read(host, gameId, token));
  const { tick } = (await host.call("GET", `/api/games/${gameId}`, token === null ? {} : { token })).json;
  for (const last of [undefined, "0"]) {
    const stream = await watchGame(host, gameId, token ?? undefined, last);
    if (last === undefined || tick > 0) await stream.next(); // else there is nothing behind event 0
    stream.close();
    said.push(stream.raw());
  }
  return said;
}

const withoutSecrets = (said: readonly string[], secrets: readonly string[]): void => {
  for (const text of said) for (const secret of secrets) expect(text).not.toContain(secret);
};

describe("kuhn_poker", () => {
  it("an agent is not shown the person's card, nor the person the agent's", async () => {
    const agent = await createGame(host, { template: "kuhn_poker", opponent: "human", play_as: "player_2" });
    const shown = await agent.wait({ showUi: true });
    const person = (await host.call("GET", `/api/games/${agent.gameId}`, { token: personOf(agent.gameId) })).json;
    const { player_1: theirs } = person.state.cards;
    const { player_2: own } = shown.value.state.cards;
    expect(theirs).toMatch(/jack|queen|king/);
    const holds = (role: string, card: string) => `${role} holds the ${card}`;
    expect(shown.raw).not.toContain(holds("player_1", theirs));
    const board = JSON.stringify([shown.meta, shown.content[1]]);
    expect(board).not.toContain(holds("player_2", own));
    for (const text of [shown.raw, agent.told.raw]) expect(text).not.toContain(`"player_1":"${theirs}"`);
    expect(board).not.toContain(`"player_2":"${own}"`);
  });
});

it.each([1, 2, 3])(
  "random games (%i): no answer, refusal, stream or page has a secret of anybody else",
  async (round) => {
    const random = createRandom(`play sealed ${round}`);
    const template = random.pick(["rps", "even_odd", "kuhn_poker"]);
    const bearers = { one: `bearer of one ${round}`, two: `bearer of two ${round}` };
    const one = await createGame(host, { template }, { bearer: bearers.one });
    const two = await joinGame(host, one.gameId, {}, { bearer: bearers.two });
    const streams = await Promise.all(
      [one.token, two.token, undefined].map((token) => watchGame(host, one.gameId, token)),
    );
    const heard: Record<"one" | "two" | "nobody", string[]> = { one: [one.told.raw], two: [two.told.raw], nobody: [] };
    for (let left = 2; left > 0; ) {
      for (const [name, seat] of random.shuffle([["one", one] as const, ["two", two] as const])) {
        const { value, raw } = await seat.wait({ timeout_s: 0, showUi: true });
        heard[name].push(raw);
        if (value.next === "game_over") left = 0;
        if (value.next !== "your_turn") continue;
        heard[name].push((await seat.move("nonsense")).raw);
        heard[name].push((await seat.move(random.pick(value.legal_actions))).raw);
        if (random.next() < 0.2) heard.nobody.push(...(await everything(one.gameId, null)));
      }
    }
    for (const [at, name] of (["one", "two", "nobody"] as const).entries()) {
      const stream = streams[at];
      while (await stream?.next());
      heard[name].push(
        stream?.raw() ?? "",
        ...(await everything(one.gameId, [one.token, two.token, null][at] ?? null)),
      );
    }
    const secrets = { one: [one.token, bearers.one], two: [two.token, bearers.two] };
    const seed = seedOf(one.gameId);
    withoutSecrets(heard.one, [...secrets.two, seed]);
    withoutSecrets(heard.two, [...secrets.one, seed]);
    withoutSecrets(heard.nobody, [...secrets.one, ...secrets.two, seed]);
  },
);

describe("the people's links in a game with hidden information", () => {
  it("the links of the spymasters are shown to the people at the host, and not to a team's agent", async () => {
    const agent = await createGame(host, { template: "codenames", play_as: "red_team", opponent: "human" });
    const { link, links, withheld } = agent.told.value;
    expect(link).not.toContain("#seat=");
    expect([Object.keys(links), withheld]).toEqual([["blue_team"], ["blue_spymaster", "red_spymaster"]]);
    expect(agent.told.text).toContain(
      "People play blue spymaster and red spymaster. Those seats see what you may not know, so their links are not told here: they are printed",
    );
    const said = host.toldPeople.filter((line) => line.includes(agent.gameId));
    expect(said.map((line) => /whoever plays (.+) moves/.exec(line)?.[1])).toEqual(["blue spymaster", "red spymaster"]);
    const shown = [agent.told, await agent.wait({ timeout_s: 0, showUi: true })];
    for (const line of said) {
      const [, token = ""] = /#seat=(\S+)/.exec(line) ?? [];
      const seen = (await host.call("GET", `/api/games/${agent.gameId}`, { token })).json;
      expect(seen.board).toContain("(assassin)");
      for (const { raw } of shown) expect(raw).not.toContain(token);
    }
  });

  it("a spymaster's agent sees everything, and gets every link", async () => {
    const agent = await createGame(host, { template: "codenames", play_as: "red_spymaster", opponent: "human" });
    const { links, withheld } = agent.told.value;
    expect([Object.keys(links), withheld]).toEqual([["blue_spymaster", "blue_team", "red_team"], undefined]);
  });

  it.each(["rps", "even_odd", "kuhn_poker"])(
    "in %s each role sees something that the other does not: the agent gets no link",
    async (template) => {
      const agent = await createGame(host, { template, opponent: "human" });
      const shown = await agent.wait({ timeout_s: 0, showUi: true });
      const token = personOf(agent.gameId);
      expect(token).not.toBe("");
      const role = agent.told.value.withheld[0].replaceAll("_", " ");
      expect(agent.told.text).toContain(`A person plays ${role}. That seat sees what you may not know, so its link is`);
      expect([agent.told.value.links, agent.told.value.withheld]).toEqual([{}, [expect.any(String)]]);
      for (const { raw } of [agent.told, shown]) expect(raw).not.toContain(token);
    },
  );

  it("in a game without hidden information the agent gets the link", async () => {
    const agent = await createGame(host, { template: "chess", opponent: "human" });
    expect(agent.link).toContain("#seat=");
    expect(agent.told.value).not.toHaveProperty("withheld");
    expect(personOf(agent.gameId)).toBe("");
  });
});
