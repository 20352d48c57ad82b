import { afterEach, describe, expect, it } from "vitest";
import { startTestManager, type TestManager } from "../testing/test-manager.ts";

const LEAGUES = [
  { league_id: "first", game: "rps.v1", min_players: 2 },
  { league_id: "second.league", game: "chess.v1", min_players: 2 },
];

let manager: TestManager | null = null;
afterEach(async () => {
  await manager?.stop();
  manager = null;
});

/** Starts a manager. `get` requests a path without following redirects. */
async function start(leagues: typeof LEAGUES = LEAGUES) {
  const started = await startTestManager(leagues);
  manager = started;
  const url = `http://127.0.0.1:${started.port}`;
  const get = (path: string, accept = "text/html") =>
    fetch(`${url}${path}`, { redirect: "manual", headers: { accept } });
  return { manager: started, get };
}

describe("the pages of leagues", () => {
  it("begin at the list of leagues, or at the only league", async () => {
    const { get } = await start();
    expect((await get("/")).headers.get("location")).toBe("/leagues");
    await manager?.stop();
    const one = await start([{ league_id: "only", game: "rps.v1", min_players: 2 }]);
    expect((await one.get("/")).headers.get("location")).toBe("/leagues/only");
  });

  it("are found under the addresses of earlier versions", async () => {
    const { get } = await start();
    expect((await get("/?league=second.league")).headers.get("location")).toBe("/leagues/second.league");
    expect((await get("/?league=first&round=3")).headers.get("location")).toBe("/leagues/first/schedule?round=3");
  });

  it("are those for projectors if the address of the manager has ?projector", async () => {
    const { get } = await start();
    expect((await get("/?projector")).headers.get("location")).toBe("/leagues?projector");
    expect((await get("/?league=first&projector")).headers.get("location")).toBe("/leagues/first?projector");
    expect((await get("/?league=first&round=3&projector")).headers.get("location")).toBe(
      "/leagues/first/schedule?round=3&projector",
    );
  });

  it("are compressed for callers that accept it", async () => {
    const { manager: started } = await start();
    const encodingFor = async (accepted: string) => {
      const headers = { accept: "text/html", "accept-encoding": accepted };
      const response = await fetch(`http://127.0.0.1:${started.port}/leagues`, { headers });
      return [response.headers.get("content-encoding"), (await response.text()).includes("second.league")];
    };
    expect(await encodingFor("gzip")).toEqual(["gzip", true]);
    expect(await encodingFor("identity")).toEqual([null, true]);
  });

  it("contain their document, which /api returns too", async () => {
    const { get, manager: started } = await start();
    await started.register("P01");
    for (const path of ["/leagues", "/leagues/first", "/leagues/second.league/standings"]) {
      const page = await get(path);
      const [, setup = ""] =
        /<script type="application\/json" id="setup">(.*?)<\/script>/s.exec(await page.text()) ?? [];
      expect([path, page.status]).toEqual([path, 200]);
      expect(JSON.parse(setup).document).toEqual(await (await get(`/api${path}`, "application/json")).json());
    }
  });

  it("show without JavaScript the standings, or what they say about a player or a match", async () => {
    const { get, manager: started } = await start();
    await started.register("P01", "P02", "REF01");
    await started.assigned("first", "R1M1");
    const contentOf = async (path: string) => {
      const html = await (await get(`/leagues/first${path}`)).text();
      return html.slice(html.indexOf("<main"), html.indexOf("</main>"));
    };
    for (const path of ["", "/standings", "/schedule"]) expect(await contentOf(path)).toContain("<table");
    for (const [path, text] of [
      ["/players/P02", "0 points: 0 won, 0 drawn, 0 lost"],
      ["/matches/R1M1", "This match has no result yet."],
      ["/operator", "The actions of the operator need JavaScript."],
    ] as const) {
      const content = await contentOf(path);
      expect(content).toContain(text);
      expect(content).toContain('<a href="/leagues/first/standings">');
      expect(content).not.toContain("<table");
    }
  });

  it("run no inline script and may not be framed", async () => {
    const { get } = await start();
    for (const path of ["/leagues", "/leagues/first", "/leagues/nowhere", "/play", "/nowhere"]) {
      const page = await get(path);
      const policy = page.headers.get("content-security-policy")?.split(";") ?? [];
      expect(policy).toEqual(
        expect.arrayContaining([
          "default-src 'none'",
          "script-src 'self'",
          "style-src 'self'",
          "frame-ancestors 'none'",
        ]),
      );
      const html = await page.text();
      expect(html).not.toMatch(/<script(?![^>]*(src=|type="application\/json"))|<style| style=| on\w+=/);
    }
  });

  it("answer unknown addresses with a page for browsers, which has a way back, and with JSON for programs", async () => {
    const { get } = await start();
    for (const [path, back] of [
      ["/nowhere", "/leagues"],
      ["/leagues/nowhere", "/leagues"],
      ["/leagues/first/nowhere", "/leagues/first"],
    ] as const) {
      const page = await get(path);
      expect([page.status, page.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
      expect(await page.text()).toContain(`<a href="${back}">`);
      const answer = await get(path, "*/*");
      expect([answer.status, await answer.json()]).toMatchObject([404, { error: { code: "NOT_FOUND" } }]);
    }
    const document = await get("/api/leagues/nowhere/standings", "application/json");
    expect([document.status, await document.json()]).toMatchObject([404, { error: { code: "NOT_FOUND" } }]);
    const hostile = await (await get("/leagues/%3Cscript%3Ealert(1)%3C/script%3E")).text();
    expect(hostile).not.toContain("<script>alert");
    const reordered = await (await get("/leagues/%E2%80%AEabc")).text();
    expect(reordered).toContain("\\u{202e}abc");
    expect(reordered).not.toContain("\u202e");
  });

  it("name what an address of a league asks for and the league does not have", async () => {
    const { get } = await start();
    for (const [path, text] of [
      ["matches/R9M9", "This league has no match R9M9."],
      ["players/P77", "This league has no player P77."],
      ["schedule?round=99", "This league has no round 99."],
      ["bracket", "This league has no bracket"],
    ] as const) {
      const page = await get(`/leagues/first/${path}`);
      expect([page.status, await page.text()]).toEqual([404, expect.stringContaining(text)]);
    }
  });

  it("answer addresses that cannot be decoded with a page for browsers, which has a way back, and with JSON for programs", async () => {
    const { get } = await start();
    for (const path of ["/leagues/%ff", "/leagues/first/matches/%E2%82", "/api/leagues/%"]) {
      const page = await get(path);
      expect([page.status, page.headers.get("content-type")]).toEqual([400, "text/html; charset=utf-8"]);
      expect(await page.text()).toContain('<a href="/leagues">');
      const answer = await get(path, "*/*");
      expect([answer.status, await answer.json()]).toMatchObject([400, { error: { code: "INVALID_REQUEST" } }]);
    }
  });

  it("explain a request of the play page that is not JSON or has a wrong type", async () => {
    const { manager: started } = await start();
    const join = async (body: string): Promise<unknown> => {
      const headers = { "content-type": "application/json" };
      const answer = await fetch(`http://127.0.0.1:${started.port}/play/api/join`, { method: "POST", headers, body });
      return [answer.status, await answer.json()];
    };
    const rejected = (message: unknown) => [400, { error: { code: "INVALID_REQUEST", message } }];
    expect(await join("{bad")).toEqual(rejected("The body is not JSON"));
    expect(await join("[]")).toEqual(rejected(expect.stringMatching(/^The body /)));
    expect(await join('{"name":5}')).toEqual(rejected(expect.stringMatching(/^name /)));
  });

  it("load their files from the server, which browsers may keep", async () => {
    const { get } = await start();
    const html = await (await get("/leagues")).text();
    const paths = [...html.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, path]) => path as string);
    expect(paths.length).toBeGreaterThan(4);
    for (const path of paths) {
      const file = await get(path);
      expect([path, file.status]).toEqual([path, 200]);
      expect(file.headers.get("cache-control")).toContain("immutable");
      expect(file.headers.get("content-encoding")).toBe("gzip");
      expect((await file.text()).length).toBeGreaterThan(100);
    }
    expect((await get("/assets/leagues-00000000.js", "*/*")).status).toBe(404);
  });

  it("show an erased name no more, also in streams that are open", async () => {
    const { get, manager: started } = await start();
    await started.register("P01");
    const stream = await get("/api/leagues/first/standings", "text/event-stream");
    const { error_code, status } = await started.tool("forget_player", {
      player_id: "P01",
      auth_token: started.operator,
    });
    expect([error_code, status]).toEqual([undefined, "FORGOTTEN"]);
    const chunks = stream.body?.pipeThrough(new TextDecoderStream()) ?? new ReadableStream<string>();
    let last = "";
    for await (const chunk of chunks) {
      last = chunk;
      if (last.startsWith("id:") && !last.includes('"name":"P01"')) break;
    }
    expect(last).toContain("event: document");
    expect(await (await get("/leagues/first/standings")).text()).not.toContain('"name":"P01"');
  });

  it("have live documents, which show a player that registers", async () => {
    const { get, manager: started } = await start();
    const stream = await get("/api/leagues/first/standings", "text/event-stream");
    expect(stream.headers.get("content-type")).toBe("text/event-stream");
    const chunks = stream.body?.pipeThrough(new TextDecoderStream()) ?? new ReadableStream<string>();
    let text = "";
    for await (const chunk of chunks) {
      text += chunk;
      if (text.includes('"rows":[]') && !text.includes("P01")) await started.register("P01");
      if (text.includes('"player_id":"P01"')) break;
    }
    expect(text).toMatch(/^id: [0-9a-f]{16}\nevent: document\ndata: \{"league"/);
  });
});

describe("the files for a student without this project", () => {
  it("have the address and the league filled in, and the game of the league", async () => {
    const { manager: started, get } = await start();
    const program = await get("/leagues/second.league/join.py");
    expect(program.headers.get("content-disposition")).toBe('attachment; filename="join.py"');
    const text = await program.text();
    expect(text).toMatch(/^MANAGER, LEAGUE = "http:\/\/[^"]+\/mcp", "second\.league"$/m);
    expect(text).toContain(`:${started.port}/mcp"`);
    expect(text).toContain('"league_ids": [LEAGUE]');
    expect(await (await get("/leagues/second.league/bot.py")).text()).toContain('GAMES = ["chess.v1"]');
  });

  it("do not exist for other names and leagues", async () => {
    const { get } = await start();
    for (const path of ["/leagues/none/join.py", "/leagues/first/other.py", "/leagues/first/join.go"])
      expect((await get(path)).status).toBe(404);
  });
});
