import { expect, it } from "vitest";
import { parsedJson } from "#shared/lib/text.ts";
import { shownBody } from "./check-report.ts";

const SECRET = "cBtfLe9CernkZBcGGw_aIiMHYKq_r8lUMvvZFss2ZyU";

it("shows JSON with short lists, and JSON text within it likewise", () => {
  const inner = JSON.stringify({ legal_actions: [1, 2, 3, 4, 5, 6, 7, 8], text: "x".repeat(500) });
  const shown = parsedJson(shownBody(JSON.stringify({ content: [{ text: inner }] }), [])) as {
    content: [{ text: string }];
  };
  const { legal_actions, text } = JSON.parse(shown.content[0].text);
  expect(legal_actions).toEqual([1, 2, 3, 4, 5, 6, "… 2 more"]);
  expect(text).toMatch(/^x{160}…$/);
});

it.each([
  ["a field", JSON.stringify({ payload: { auth_token: SECRET, join_code: "oak" } })],
  ["JSON text within JSON", JSON.stringify({ text: JSON.stringify({ auth_token: SECRET, join_code: "oak" }) })],
  ["text that is not JSON", `<html>"auth_token": "${SECRET}", "join_code": "oak"`],
  ["cut JSON", `{"text": "{\\"auth_token\\": \\"${SECRET}\\", \\"join_code\\": \\"oak\\""`],
])("hides tokens and join codes in %s", (_, body) => {
  const shown = shownBody(body, []);
  expect(shown).not.toContain(SECRET.slice(0, 12));
  expect(shown).not.toContain("oak");
});

it("hides known secrets anywhere and escapes control characters", () => {
  expect(shownBody(`my ${SECRET}\u001b[31m`, [SECRET])).toBe("my [hidden]\\u{1b}[31m");
});

it("cuts a long body", () => {
  expect(shownBody("x".repeat(5_000), []).length).toBeLessThan(1_300);
});
