import { describe, expect, test } from "vitest";
import { Config } from "#shared/runtime/config/config.ts";
import { afterCommands } from "./league/testing/leagues.ts";
import { leagueSettings, settingsAtStart, settingsLike } from "./manager-options.ts";

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

describe("the settings of a league that is opened like one of the config", () => {
  const run = { runId: "run", seed: "7" };
  const startsAt = "2026-05-04T14:00:00+02:00";
  const league = { league_id: "rps", game: "rps.v1", options: { best_of: 5 }, round_ms: 60_000, starts_at: startsAt };
  const config = Config.parse({ leagues: [league] });
  const at = (text: string, own: string | null = null) =>
    settingsLike(config, run, { like: "rps", leagueId: "second", startsAt: own, nowMs: Date.parse(text) });

  test("are those of the config with another id and another seed, without a start time that is over", () => {
    const [first] = leagueSettings(config, run);
    const second = at("2026-05-04T11:59:59Z");
    expect(second).toEqual({
      ...first,
      leagueId: "second",
      like: "rps",
      seedCommitment: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(second?.seedCommitment).not.toBe(first?.seedCommitment);
    expect(at("2026-05-04T12:00:00Z")).toEqual({ ...second, startsAt: null });
    expect(settingsLike(config, run, { like: "gone", leagueId: "second", startsAt: null, nowMs: 0 })).toBeNull();
  });

  test("follow the config at each start of the manager, except a start time that is over meanwhile", () => {
    const nowMs = Date.parse("2026-05-04T12:00:00Z");
    const settings = at("2026-05-04T11:59:59Z");
    const stored = afterCommands(settings ? [{ type: "open", settings }] : []).league;
    const former = { ...stored, leagueId: "third", like: "gone" };
    expect(settingsAtStart(config, run, [stored, former], nowMs)).toEqual([...leagueSettings(config, run), settings]);
    const changed = Config.parse({
      leagues: [
        { ...league, options: { best_of: 1 } },
        { ...league, league_id: "second" },
      ],
    });
    expect(settingsAtStart(changed, run, [stored], nowMs)).toEqual(leagueSettings(changed, run));
  });
});
