import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRandom } from "#shared/lib/rng.ts";
import { startTestHost, type TestHost } from "../rest/testing-host.ts";
import { type Observer, observe } from "../rest/testing-rest.ts";
import { createGame, joinGame, personTokens, play, type TestSeat, tool, twoSeats, watchGame } from "./testing-play.ts";

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

/** Every byte that one viewer can get of a game without moving: through each tool, resource, page and stream, and in each refusal. */
async function everything(game_id: string, token: string | null): Promise<string[]> {
  const own = token === null ? {} : { seat_token: token };
  const tools = [
    ["waitForNextTurn", { ...own, timeout_s: 0, showUi: true }],
    ["finishTurn", { ...own, move: "no such move" }],
    ["finishTurn", { ...own, move: "rock", claim: "checkmate" }],
    ["finishTurn", { ...own, move: 3, claim_win: true }],
    ["finishTurn", { ...own, move: "bet", claim: "draw" }],
    ["finishTurn", { ...own, move: "call", expected_tick: 99 }],
    ["joinGame", {}],
    ["get_game_state", { match_id: game_id, ...(token !== null && { auth_token: token }) }],
    ["validate_move", { player_id: "player_1", move: "rock", match_id: game_id }],
  ] as const;
  const said: string[] = [];
  for (const [name, args] of tools) said.push((await tool(host, name, { game_id, ...args })).raw);
  const uri = `game://state/${game_id}`;
  const body = { jsonrpc: "2.0", id: 1, method: "resources/read", params: { uri } };
  said.push((await host.call("POST", "/mcp", { body, headers: { "content-type": "application/json" } })).text);
  const as = token === null ? {} : { token };
  for (const path of [
    `/api/games/${game_id}`,
    `/game/${game_id}`,
    `/sessions/${game_id}/state`,
    `/sessions/${game_id}/log`,
  ]) {
    const { status, text } = await host.call("GET", path, as);
    said.push(`${status} ${text}`);
  }
  const listed = (await host.call("GET", "/api/games")).json.games;
  said.push(JSON.stringify(listed.find((one: { game_id: string }) => one.game_id === game_id)));
  const moves = { ...as, body: { move: "no such move", claim: "win" } };
  said.push((await host.call("POST", `/api/games/${game_id}/moves`, moves)).text);
  const { tick } = (await host.call("GET", `/api/games/${game_id}`, as)).json;
  for (const last of [undefined, "0"]) {
    const stream = await watchGame(host, game_id, token ?? undefined, last);
    if (last === undefined || tick > 0) await stream.next(); // else there is nothing behind event 0
    stream.close();
    said.push(stream.raw());
  }
  return said;
}

/** Ids and tokens differ from game to game; nothing else may. */
const plain = (said: readonly string[]): string[] =>
  said.map((text) =>
    text
      .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "ID")
      .replace(/(?<![\w-])[\w-]{43}(?![\w-])/g, "TOKEN")
      .replace(/"created_at":"[^"]*"/g, "WHEN"),
  );

const withoutSecrets = (said: readonly string[], secrets: readonly string[]): void => {
  for (const text of said) for (const secret of secrets) expect(text).not.toContain(secret);
};

describe.each<[string, object, readonly unknown[], readonly unknown[]]>([
  ["rps", { best_of: 3 }, ["rock", "paper"], ["rock", "paper", "scissors"]],
  ["even_odd", {}, [1, 2], [1, 4, 5]],
  ["even_odd", { variant: "draw", rounds_to_win: 2, max_rounds: 3 }, [], ["even", "odd"]],
])("%s %j", (template, options, before, choices) => {
  it("what the other seat and spectators are sent does not depend on a sealed choice", async () => {
    const seen: Record<"other" | "spectator" | "stranger", string[][]> = { other: [], spectator: [], stranger: [] };
    for (const choice of choices) {
      const [one, two] = await twoSeats(host, template, { options });
      await play([one, two], before);
      const watching = await watchGame(host, one.gameId);
      await one.move(choice);
      const spectator = await everything(one.gameId, null);
      watching.close();
      const said = {
        other: await everything(one.gameId, two.token),
        spectator: [...spectator, watching.raw()],
        stranger: await everything(one.gameId, "made-up"),
      };
      const secrets = [one.token, seedOf(one.gameId)];
      withoutSecrets(said.other, secrets);
      withoutSecrets([...said.spectator, ...said.stranger], [...secrets, two.token]);
      for (const viewer of ["other", "spectator", "stranger"] as const) seen[viewer].push(plain(said[viewer]));
    }
    for (const [first, ...others] of Object.values(seen)) for (const other of others) expect(other).toEqual(first);
  });

  it("spectators are not even told that somebody has chosen", async () => {
    const [one, two] = await twoSeats(host, template, { options });
    const before = plain(await everything(one.gameId, null));
    await two.move(choices[0]);
    expect(plain(await everything(one.gameId, null))).toEqual(before);
  });

  it("the agent that made a game is not shown the person's choice, in no part of an answer", async () => {
    const seen: string[][] = [];
    for (const choice of choices) {
      const agent = await createGame(host, { template, options, opponent: "human" });
      const body = { move: choice };
      const moved = await host.call("POST", `/api/games/${agent.gameId}/moves`, {
        token: personOf(agent.gameId),
        body,
      });
      expect(moved.status).toBe(200);
      seen.push(plain(await everything(agent.gameId, agent.token)));
    }
    for (const other of seen.slice(1)) expect(other).toEqual(seen[0]);
  });
});

describe("kuhn_poker", () => {
  /** Plays the open hand's first action of each; what `two` and spectators were sent until then, by the cards. */
  it("what a seat and spectators are sent does not depend on a card that they may not see", async () => {
    const bySecond = new Map<string, string[]>();
    const byNobody = new Set<string>();
    const deals = new Set<string>();
    while (deals.size < 6) {
      const [one, two] = await twoSeats(host, "kuhn_poker", { options: { hands: 2 } });
      const cardOf = async (seat: TestSeat): Promise<string> =>
        (await seat.wait({ timeout_s: 0 })).value.state.cards[seat.role];
      const [first, second] = [await cardOf(one), await cardOf(two)];
      if (deals.has(`${first} ${second}`)) continue;
      deals.add(`${first} ${second}`);
      const spectator = await everything(one.gameId, null);
      await one.move("bet");
      const said = [two.told.raw, ...(await everything(one.gameId, two.token))];
      withoutSecrets(said, [one.token, seedOf(one.gameId)]);
      withoutSecrets(spectator, [one.token, two.token, seedOf(one.gameId)]);
      const mine = plain(said);
      expect(mine).toEqual(bySecond.get(second) ?? mine);
      bySecond.set(second, mine);
      byNobody.add(JSON.stringify(plain(spectator)));
    }
    expect(byNobody.size).toBe(1);
  });

  it("a folded card is told nobody, also after the game", async () => {
    const seen = new Set<string>();
    for (let game = 0; game < 6; game++) {
      const [one, two] = await twoSeats(host, "kuhn_poker", { options: { hands: 1 } });
      await play([one, two], ["bet", "fold"]);
      seen.add(JSON.stringify(plain(await everything(one.gameId, null))));
    }
    expect(seen.size).toBe(1);
  });

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
