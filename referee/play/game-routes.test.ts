import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { HistoryDocument } from "#shared/web/play-documents.ts";
import { startTestHost, type TestHost } from "../rest/testing/host.ts";
import { createGame, play, tokenOf, twoSeats } from "./testing/play.ts";

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(() => host.remove());

/** Creates a game of a person. */
async function created(body: object) {
  const { json } = await host.post("/api/games", body);
  const { link, opponent_link, game_id } = json;
  return { id: game_id as string, token: tokenOf(link), friend: opponent_link && tokenOf(opponent_link) };
}
const move = async (id: string, token: string, move: unknown): Promise<void> => {
  const { status, text } = await host.post(`/api/games/${id}/moves`, { move }, token);
  expect(status, text).toBe(200);
};

describe("GET /api/new-game", () => {
  it("lists for each game the roles, the opponents with their levels and the options in words", async () => {
    const { games } = (await host.get("/api/new-game")).json;
    expect(games[0].template).toBe("chess.v1");
    const rps = games.find(({ template }: { template: string }) => template === "rps.v1");
    expect(rps.roles).toEqual(["player_1", "player_2"]);
    expect(rps.opponents.map(({ bot }: { bot: string }) => bot)).toContain("iocaine");
    expect(rps.options).toEqual([
      expect.objectContaining({ name: "best_of", label: "Rounds", kind: "number", preset: 5, min: 1, max: 99 }),
    ]);
    for (const { opponents } of games)
      for (const { description } of opponents) expect(description).toMatch(/^[^{}_]+$/);
  });

  it("every bot that it lists can be chosen", async () => {
    const { games } = (await host.get("/api/new-game")).json;
    const engines = /^(stockfish|gnuchess)-/; // each would start a process
    for (const { template, opponents } of games)
      for (const { bot } of opponents.filter((one: { bot: string }) => !engines.test(one.bot))) {
        const { status, text } = await host.post("/api/games", { template, opponent: bot });
        expect(status, `${template} ${bot}: ${text}`).toBe(201);
      }
  });
});

it("the moves of a game are compressed for clients that accept gzip", async () => {
  const { id, token, friend } = await created({ template: "chess", opponent: "human" });
  for (const [index, uci] of ["e2e4", "e7e5", "g1f3", "b8c6"].entries())
    await move(id, index % 2 ? friend : token, uci);
  const path = new URL(`/api/games/${id}/history`, host.url);
  const read = async (encoding: string) => {
    const response = await fetch(path, { headers: { "accept-encoding": encoding } });
    return { encoding: response.headers.get("content-encoding"), document: (await response.json()) as HistoryDocument };
  };
  const plain = await read("identity");
  expect(plain.encoding).toBe(null);
  expect(plain.document.moves).toHaveLength(4);
  expect(await read("gzip")).toEqual({ encoding: "gzip", document: plain.document });
});

describe("a game of two people", () => {
  it("has draw offers in chess, and a game against a bot has none", async () => {
    const { id, token, friend } = await created({ template: "chess", opponent: "human" });
    expect((await host.get(`/api/games/${id}`, token)).json.state).toMatchObject({ draw_offer: null });
    await move(id, token, "e2e4 draw");
    await move(id, friend, "draw");
    expect((await host.get(`/api/games/${id}`)).json.result).toMatchObject({ winner: null, reason: "draw_agreed" });
    const alone = await created({ template: "chess", opponent: "agent" });
    expect((await host.get(`/api/games/${alone.id}`)).json.state).not.toHaveProperty("draw_offer");
  });

  it("shows its creator the link of the friend, and whether the friend has opened it", async () => {
    const { id, token, friend } = await created({ template: "chess", opponent: "human" });
    const path = `/api/games/${id}/invitations`;
    const invited = async (as?: string) => (await host.get(path, as)).json;
    expect(await invited(token)).toMatchObject({ people: [{ role: "black", has_opened: false }], agents: [] });
    expect(tokenOf((await invited(token)).people[0].link)).toBe(friend);
    expect(await invited(friend)).toMatchObject({ people: [] });
    expect((await invited(token)).people).toMatchObject([{ has_opened: true }]);
    expect((await host.get(path)).status).toBe(401);
  });
});

describe("POST /api/games/{id}/name", () => {
  it("names a person without a name once, for all viewers", async () => {
    const { id, token, friend } = await created({ template: "chess", opponent: "human", name: "Ann" });
    const path = `/api/games/${id}/name`;
    expect((await host.post(path, { name: " Bob " }, friend)).json).toEqual({ name: "Bob" });
    expect((await host.post(path, { name: "Bob" }, friend)).status, "a repeated request").toBe(200);
    expect((await host.get(`/api/games/${id}`)).json.players.black).toMatchObject({ name: "Bob" });
    const { games } = (await host.get("/api/games")).json;
    expect(games.find(({ game_id }: { game_id: string }) => game_id === id).players.black).toBe("Bob");
    for (const as of [token, friend]) expect((await host.post(path, { name: "Eve" }, as)).status).toBe(409);
    expect((await host.get(`/api/games/${id}`)).json.players.black).toMatchObject({ name: "Bob" });
  });

  it("rejects callers without a seat, seats of programs, and texts that are not names", async () => {
    const { id, friend } = await created({ template: "chess", opponent: "human" });
    const path = `/api/games/${id}/name`;
    for (const name of ["", "x".repeat(61), "two\nlines", 7])
      expect((await host.post(path, { name }, friend)).status, String(name)).toBe(400);
    expect((await host.post(path, { name: "Eve" })).status).toBe(401);
    const [one] = await twoSeats(host, "chess");
    expect((await host.post(`/api/games/${one.gameId}/name`, { name: "Eve" }, one.token)).status).toBe(403);
  });
});

it("shows the creator of a game the open seats of agents and where they connect", async () => {
  const { id, token } = await created({ template: "codenames", play_as: "red_team", opponent: "agent" });
  const { json } = await host.get(`/api/games/${id}/invitations`, token);
  const roles = ["red_spymaster", "blue_spymaster", "blue_team"];
  expect(json).toEqual({
    people: [],
    agents: roles.map((role) => ({ role })),
    is_rematch: false,
    mcp_url: `${host.url}/mcp`,
  });
});

it("shows no links to an agent that has created a game", async () => {
  const { gameId, token } = await createGame(host, { template: "kuhn_poker", opponent: "human" });
  expect((await host.get(`/api/games/${gameId}/invitations`, token)).json.people).toEqual([]);
});

describe("GET /api/games/{id}/history", () => {
  it("has the moves of chess in SAN with the positions after them", async () => {
    const { id, token, friend } = await created({ template: "chess", opponent: "human" });
    for (const [as, text] of [
      [token, "e4"],
      [friend, "e7e5 draw"],
      [token, "Nf3"],
    ])
      await move(id, as as string, text);
    const { moves } = (await host.get(`/api/games/${id}/history`)).json;
    expect(moves.map(({ text }: { text: string }) => text)).toEqual(["e4", "e5 (draw?)", "Nf3"]);
    expect(moves.at(-1).after.state).toEqual((await host.get(`/api/games/${id}`)).json.state);
    expect(moves[0].after.state.fen).toContain("/4P3/");
  });

  it("has only the later moves, if the first ones are known", async () => {
    const { id, token, friend } = await created({ template: "chess", opponent: "human" });
    for (const [as, text] of [
      [token, "e4"],
      [friend, "e5"],
      [token, "Nf3"],
    ])
      await move(id, as as string, text);
    const all = (await host.get(`/api/games/${id}/history`)).json;
    expect(all).toMatchObject({ from: 0, moves: { length: 3 } });
    const later = async (from: string) => (await host.get(`/api/games/${id}/history?from=${from}`)).json;
    expect(await later("2")).toEqual({ ...all, from: 2, moves: all.moves.slice(2) });
    expect(await later("3")).toEqual({ ...all, from: 3, moves: [] });
    for (const from of ["-1", "none"]) expect(await later(from)).toEqual(all);
  });

  it("has the sealed choice of an open turn for its own player only", async () => {
    const [one, two] = await twoSeats(host, "rps", { options: { best_of: 3 } });
    await play([one, two], ["rock", "scissors"]);
    await one.move("paper");
    const texts = async (token?: string) =>
      (await host.get(`/api/games/${one.gameId}/history`, token)).json.moves.map(({ text }: { text: string }) => text);
    expect(await texts(one.token)).toEqual(["rock", "scissors", "paper"]);
    expect(await texts(two.token)).toEqual(["rock", "scissors"]);
    expect(await texts()).toEqual(["rock", "scissors"]);
    const { moves } = (await host.get(`/api/games/${one.gameId}/history`, two.token)).json;
    const states = moves.map(({ after }: { after: { state: unknown } }) => after.state);
    expect(JSON.stringify(states)).not.toContain("paper");
  });

  it("hides the cards of the other player in every position", async () => {
    const [one, two] = await twoSeats(host, "kuhn_poker", { options: { hands: 2 } });
    await play([one, two], ["check"]);
    const [own, other, watching] = await Promise.all(
      [one.token, two.token, undefined].map(
        async (token) => (await host.get(`/api/games/${one.gameId}/history`, token)).json,
      ),
    );
    const view = async (token?: string) => (await host.get(`/api/games/${one.gameId}`, token)).json.state;
    expect(own.moves.at(-1).after.state).toEqual(await view(one.token));
    expect(other.moves.at(-1).after.state).toEqual(await view(two.token));
    expect(watching.moves.at(-1).after.state).toEqual(await view());
  });
});

describe("a rematch", () => {
  it("has the same options with the colours exchanged, and both players get its link once it is wanted", async () => {
    const { id, token, friend } = await created({ template: "chess", opponent: "human", options: { max_plies: 50 } });
    const path = `/api/games/${id}/rematch`;
    expect((await host.post(path, {}, token)).status).toBe(409);
    await host.post(`/api/games/${id}/moves`, { resign: true }, token);
    expect((await host.get(path, friend)).json).toEqual({ link: null });
    const links = await Promise.all([host.post(path, {}, token), host.post(path, {}, friend)]);
    const [mine, theirs] = links.map(({ json }) => new URL(json.link));
    expect(mine?.pathname).toBe(theirs?.pathname);
    expect((await host.get(path, friend)).json).toEqual({ link: theirs?.href });
    const next = `/api${mine?.pathname.replace("game", "games")}`;
    const mineNow = (await host.get(next, tokenOf(mine?.href ?? ""))).json;
    expect(mineNow).toMatchObject({ your_role: "black", state: { ends_at: 50, draw_offer: null } });
    expect((await host.get(next, tokenOf(theirs?.href ?? ""))).json.your_role).toBe("white");
    expect((await host.get(path)).status).toBe(401);
    const invited = async (game: string, as: string) => (await host.get(`/api/games/${game}/invitations`, as)).json;
    expect(await invited(id, token)).toMatchObject({ is_rematch: false });
    expect(await invited(mine?.pathname.split("/").at(-1) ?? "", tokenOf(mine?.href ?? ""))).toMatchObject({
      is_rematch: true,
    });
  });

  it("against a bot begins at once", async () => {
    const { id, token } = await created({ template: "tic_tac_toe", opponent: "minimax" });
    await host.post(`/api/games/${id}/moves`, { resign: true }, token);
    const { json } = await host.post(`/api/games/${id}/rematch`, {}, token);
    const { pathname } = new URL(json.link);
    const view = (await host.get(`/api${pathname.replace("game", "games")}`, tokenOf(json.link))).json;
    expect(view).toMatchObject({ your_role: "o", status: "active", players: { x: { kind: "bot", name: "minimax" } } });
  });

  it("of a game with an agent waits until the agent joins again", async () => {
    const [one, two] = await twoSeats(host, "chess");
    await one.move("e4");
    await two.move("e5", {});
    await host.post(`/api/games/${one.gameId}/moves`, { resign: true }, one.token);
    const { json } = await host.post(`/api/games/${one.gameId}/rematch`, {}, one.token);
    const view = (await host.get(`/api${new URL(json.link).pathname.replace("game", "games")}`)).json;
    expect(view.status).toBe("waiting_for_players");
  });
});

describe("an unknown address", () => {
  it("is a page with a way back for a browser, and JSON for programs", async () => {
    const asBrowser = { headers: { accept: "text/html,application/xhtml+xml,*/*;q=0.8" } };
    const page = await host.call("GET", "/nowhere", asBrowser);
    expect([page.status, page.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
    expect(page.text).toContain('<a href="/">');
    for (const headers of [{}, { accept: "*/*" }, { accept: "application/json" }])
      expect((await host.call("GET", "/nowhere", { headers })).json.error.code).toBe("NOT_FOUND");
    expect((await host.call("POST", "/nowhere", asBrowser)).json.error.code).toBe("NOT_FOUND");
    const malformed = await host.call("GET", "/game/%ff", asBrowser);
    expect([malformed.status, malformed.text]).toEqual([400, expect.stringContaining('<a href="/">')]);
    expect((await host.call("GET", "/game/%ff")).json.error.code).toBe("INVALID_REQUEST");
  });
});
