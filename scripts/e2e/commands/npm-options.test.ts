import { afterEach, expect, it } from "vitest";
import { cleanUp, league } from "../../testing/processes.ts";

afterEach(cleanUp);

/** The variables that npm sets for `npm run league new-bot abc --game chess` and for `npm start --seed 7`. */
const LEAGUE = { npm_lifecycle_event: "league", npm_config_game: "true" };
const START = { npm_lifecycle_event: "start", npm_config_seed: "true" };
const TAKEN = "for itself. It passes options only after --:";

it.each([
  [["new-bot", "abc", "chess"], LEAGUE, 2, `npm has taken --game ${TAKEN} npm run league -- new-bot …`],
  [["run", "7"], START, 3, `7: no such file\nnpm has taken --seed ${TAKEN} npm start -- …`],
] as const)(
  "an error names the option that npm has taken, and the command that passes it: %j",
  async (args, variables, code, text) => {
    const ended = await league([...args], variables);
    expect(ended.code, ended.stderr).toBe(code);
    expect(ended.stderr).toContain(`${text}\n`);
  },
);
