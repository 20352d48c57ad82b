import { afterAll, describe, expect, it } from "vitest";
import { startTestHost, type TestHost } from "../rest/testing-host.ts";
import { playerTypes } from "./flow.ts";
import { connectHost, type Form, type Prompt, textOf } from "./testing-host.ts";

const host: Promise<TestHost> = startTestHost();
afterAll(async () => (await host).remove());

const ROLES = ["red_spymaster", "red_team", "blue_spymaster", "blue_team"] as const;
const combinations = Array.from({ length: 16 }, (_, bits) =>
  Object.fromEntries(ROLES.map((role, place) => [role, playerTypes[(bits >> place) & 1]])),
);

/** A person and a model that play by what they are told: spymasters give any clue, teams guess the first word and stop after two. */
function answering() {
  const asked = { forms: 0, prompts: 0 };
  return {
    asked,
    form({ requestedSchema: { properties } }: Form) {
      asked.forms++;
      const content: Record<string, string | boolean> = {};
      if (properties.source) content.source = "built-in";
      else if (properties.number) Object.assign(content, { word: strange(asked.forms), number: "1" });
      else if (properties.word) content.word = properties.word.enum?.[0] ?? "";
      else content.go_on = true;
      return { action: "accept" as const, content };
    },
    prompt(prompt: Prompt) {
      asked.prompts++;
      const text = textOf(prompt);
      if (text.includes('{"clue"')) return JSON.stringify({ clue: strange(asked.prompts), number: 1 });
      if (text.includes('{"continue"')) return '{"continue": true}';
      return JSON.stringify({ guess: coveredWord(text) });
    },
  };
}

/** A word that is on no board. */
const strange = (n: number): string => `ZXQ${"W".repeat(1 + (n % 20))}`;
/** The first word that is not in brackets, as the board shows those that are uncovered. */
const coveredWord = (text: string): string => {
  const words = text.match(/\[[^\]]*\]|[A-Z]+(?: [A-Z]+)*/gu) ?? [];
  const board = words.slice(words.findIndex((word) => word.startsWith("[") || word.length > 3));
  return board.find((word) => !word.startsWith("[")) ?? "";
};

describe.each(["session", "modern"] as const)("create_new_game in the era %s", (era) => {
  it.each(combinations)("plays to the end: %j", async (players) => {
    const people = answering();
    const client = await connectHost(`${(await host).url}/mcp`, era, people);
    try {
      const { structuredContent, isError, content } = await client.call("create_new_game", players);
      expect({ isError, content: isError && content }).toEqual({ isError: undefined, content: undefined });
      expect(structuredContent).toMatchObject({ status: "completed", winner: expect.stringMatching(/^(red|blue)$/) });
      const types = Object.values(players);
      // The question about the words is a form too.
      expect([people.asked.forms > 1, people.asked.prompts > 0]).toEqual([
        types.includes("user"),
        types.includes("llm"),
      ]);
    } finally {
      await client.close();
    }
  });
});
