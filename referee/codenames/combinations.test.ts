import { afterAll, describe, expect, it } from "vitest";
import { startTestHost, type TestHost } from "../rest/testing/host.ts";
import { people, players } from "./testing/answers.ts";
import { connectHost, eras } from "./testing/host.ts";

const host: Promise<TestHost> = startTestHost();
afterAll(async () => (await host).remove());

describe.each(eras)("create_new_game in the era %s", (era) => {
  it.each(Array.from({ length: 16 }, (_, bits) => players(bits)))("plays to the end: %j", async (seats) => {
    const respondent = people();
    const client = await connectHost(`${(await host).url}/mcp`, era, respondent);
    try {
      const { structuredContent, isError, content } = await client.call("create_new_game", seats);
      expect({ isError, content: isError && content }).toEqual({ isError: undefined, content: undefined });
      expect(structuredContent).toMatchObject({ status: "completed", winner: expect.stringMatching(/^(red|blue)$/) });
      const [source, ...questions] = respondent.questions;
      expect(source).toMatchObject({ by: "form", stage: "source" });
      // A game may end before each team has had a turn.
      const by = { user: "form", llm: "prompt" } as const;
      const types = Object.values(seats).map((type) => by[type]);
      expect(questions.filter(({ by }) => !types.includes(by))).toEqual([]);
      expect(questions.length).toBeGreaterThan(1);
    } finally {
      await client.close();
    }
  });
});
