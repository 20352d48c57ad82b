import { expect, test } from "vitest";
import { Config } from "#shared/runtime/config/config.ts";
import { leagueSettings } from "./manager-options.ts";

test.each([
  ["ladder", {}, { max_ahead: 2 }],
  ["ladder", { matches: 9, max_ahead: 50 }, { matches: 9, max_ahead: 50 }],
  ["swiss", {}, {}],
])(
  "a new league of the format %s has the options of new leagues, unless its config has others: %j",
  (format, format_options, expected) => {
    const config = Config.parse({ leagues: [{ league_id: "rps", game: "rps.v1", format, format_options }] });
    const [settings] = leagueSettings(config, { runId: "run", seed: "7" });
    expect(settings?.formatOptions).toEqual(expected);
  },
);
