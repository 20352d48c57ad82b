import { describe, expect, it } from "vitest";
import { bundle } from "./bundle.ts";
import { boardPage, gamesPage, jsonForScript } from "./pages.ts";
import { chessAt } from "./testing/games.ts";

const MODES = ["page", "app", "embed"] as const;

describe("the pages", () => {
  it.each(MODES)("a board in mode %s has no reference to a file that a browser would load", async (mode) => {
    const html = await boardPage({ mode });
    expect(html).not.toMatch(/\ssrc=|@import|url\((?!data:)|<link rel="(?!icon)/);
    expect(html.match(/<link[^>]*href="([^"]*)"/)?.[1]).toBe("data:,");
    expect(html).toContain(`"mode":"${mode}"`);
  });

  it.each([
    ["page", "connect-src 'self'"],
    ["app", "default-src 'none'"],
    ["embed", "default-src 'none'"],
  ] as const)("the content security policy of mode %s contains %s", async (mode, part) => {
    const policy = policyOf(await boardPage({ mode }));
    expect(policy).toMatch(/^default-src 'none'/);
    expect(policy).toContain(part);
    expect(policy.includes("connect-src")).toBe(mode === "page");
  });

  it("only the bundled script may run on a page of the server", async () => {
    for (const html of [await boardPage({ mode: "page" }), await gamesPage()]) {
      expect(policyOf(html)).toMatch(/script-src 'sha256-[^']+'/);
      expect(policyOf(html)).not.toContain("script-src 'unsafe-inline'");
    }
  });

  it("names and texts of a game cannot end their script element", async () => {
    const game = { ...chessAt(), name: `</script><script>alert(1)</script><!--`, game_id: `"'&` };
    const html = await boardPage({ mode: "embed", game, seat: { role: "white", token: "</SCRIPT>" } });
    expect(html).not.toContain("<script>alert(1)");
    expect(html).not.toContain("</SCRIPT>");
    const setup = /<script type="application\/json" id="setup">(.*?)<\/script>/s.exec(html)?.[1] ?? "";
    expect(JSON.parse(setup)).toMatchObject({ mode: "embed", game, seat: { role: "white", token: "</SCRIPT>" } });
  });

  it("jsonForScript returns JSON without the character that could end the script element", () => {
    const value = { "<b>": ["</script>", "<!--", "\u2028"] };
    expect(JSON.parse(jsonForScript(value))).toEqual(value);
    expect(jsonForScript(value)).not.toContain("<");
  });

  it("the bundled scripts do not end their script element", async () => {
    const { board, games } = await bundle();
    expect(`${board}${games}`).not.toMatch(/<\/script|<!--/i);
  });

  it("the bundle is built once for concurrent calls", async () => {
    expect(bundle()).toBe(bundle());
    expect(await bundle()).toBe(await bundle());
  });

  it("a board is small and contains only pieces that may be used commercially", async () => {
    const html = await boardPage({ mode: "app" });
    expect(html.length).toBeLessThan(100_000);
    expect(html).toContain("CC BY-SA 3.0");
    expect(html).not.toMatch(/staunty/i);
  });
});

const policyOf = (html: string): string => /content-security-policy" content="([^"]*)"/.exec(html)?.[1] ?? "";
