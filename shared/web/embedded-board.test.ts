import { describe, expect, it } from "vitest";
import { bundle, embeddedBoard, jsonForScript } from "./bundle.ts";
import { chessAt } from "./testing/games.ts";

const MODES = ["app", "embed"] as const;

describe("a self-contained board", () => {
  it.each(MODES)("a board in mode %s has no reference to a file that a browser would load", async (mode) => {
    const html = await embeddedBoard({ mode });
    expect(html).not.toMatch(/\ssrc=|@import|url\((?!data:)|<link rel="(?!icon)/);
    expect(html.match(/<link[^>]*href="([^"]*)"/)?.[1]).toBe("data:,");
    expect(html).toContain(`"mode":"${mode}"`);
  });

  it.each([
    ["app", "default-src 'none'"],
    ["embed", "default-src 'none'"],
  ] as const)("the content security policy of mode %s contains %s", async (mode, part) => {
    const policy = policyOf(await embeddedBoard({ mode }));
    expect(policy).toMatch(/^default-src 'none'/);
    expect(policy).toContain(part);
    expect(policy).not.toContain("connect-src");
  });

  it("names and texts of a game cannot end their script element", async () => {
    const game = { ...chessAt(), name: `</script><script>alert(1)</script><!--`, game_id: `"'&` };
    const html = await embeddedBoard({ mode: "embed", game, seat: { role: "white", token: "</SCRIPT>" } });
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

  it("the bundled script does not end its script element", async () => {
    const { board } = await bundle();
    expect(board).not.toMatch(/<\/script|<!--/i);
  });

  it("the bundle is built once for concurrent calls", async () => {
    expect(bundle()).toBe(bundle());
    expect(await bundle()).toBe(await bundle());
  });

  it("a board is small and contains only pieces that may be used commercially", async () => {
    const html = await embeddedBoard({ mode: "app" });
    expect(html.length).toBeLessThan(120_000);
    expect(html).toContain("CC BY-SA 3.0");
    expect(html).not.toMatch(/staunty/i);
  });
});

const policyOf = (html: string): string => /content-security-policy" content="([^"]*)"/.exec(html)?.[1] ?? "";
