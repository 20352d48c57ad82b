import { afterEach, describe, expect, test } from "vitest";
import { startTestLeague, type TestLeague } from "../../testing/in-process-league.ts";

let league: TestLeague | undefined;
afterEach(() => league?.stop());

const start = async (names: readonly string[]): Promise<TestLeague> => {
  league = await startTestLeague({
    leagues: [{ league_id: "rps", game: "rps.v1" }],
    players: names.map((name) => ({ name, bot: "random" })),
  });
  await league.completed;
  return league;
};
const urlAt = (endpoint: string, path: string): string => new URL(path, endpoint).href;

describe("the pages of agents", () => {
  test("manager and players answer GET /health and GET /ready, and 404 to unknown paths", async () => {
    const { manager, playerUrls } = await start(["Ann", "Bob"]);
    for (const endpoint of [manager, ...playerUrls]) {
      const health = await fetch(urlAt(endpoint, "/health"));
      expect([health.status, await health.json()]).toEqual([200, { status: "ok" }]);
      const ready = await fetch(urlAt(endpoint, "/ready"));
      expect([ready.status, await ready.json()]).toEqual([200, { status: "ready" }]);
      const missing = await fetch(urlAt(endpoint, "/nothing/../here"));
      expect(missing.status).toBe(404);
      expect(missing.headers.get("x-powered-by")).toBeNull();
      expect(await missing.json()).toMatchObject({ error: { code: "NOT_FOUND" } });
    }
  });

  test("the manager's page has the standings without JavaScript, and escapes the names of players", async () => {
    const { manager } = await start(["<img src=x onerror=alert(1)>", "Bob & Söhne"]);
    const page = await fetch(urlAt(manager, "/"));
    const html = await page.text();
    expect(page.headers.get("content-type")).toMatch(/^text\/html/);
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(html).toContain("&#60;img src=x onerror=alert(1)&#62;");
    expect(html).not.toContain("<img");
    expect(html).toContain("Bob &#38; Söhne");
    expect(html).toMatch(/<h1>.*rps.*<\/h1>/);
    expect(html).toContain("Completed</span> Rock, paper, scissors");
    expect(html).not.toMatch(/<script>|<script [^>]*nonce| style=/);
  });
});
