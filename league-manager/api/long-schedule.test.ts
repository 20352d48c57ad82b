import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { roundRobin } from "#shared/formats/round-robin.ts";
import { playerId } from "#shared/lib/ids.ts";
import { ok } from "#shared/lib/result.ts";
import { type NewLeagueEvent, numbered } from "../league/league.ts";
import { createProjections, type Views } from "../projections/projections.ts";
import { ledgerOn, opened, profile, registered } from "../store/testing/ledger.ts";
import { managerResources, managerTemplates } from "./league-resources.ts";

/** 1,035 matches in 45 rounds. */
const PLAYERS = Array.from({ length: 46 }, (_, index) => playerId(index + 1));
/** Noncanonical texts of round numbers. */
const ALIASES = ["01", "0x1", "1e0", "+1", " 1", "1.0"];
const folder = mkdtempSync(join(tmpdir(), "long-schedule-"));
const { ledger, db } = await ledgerOn(join(folder, "league-manager.sqlite"));
let views: Views;
beforeAll(async () => {
  const events: readonly NewLeagueEvent[] = [
    opened("first"),
    ...PLAYERS.map((player_id): NewLeagueEvent => ({ type: "player_entered", player_id, name_commitment: "" })),
    { type: "started" },
    ...numbered(roundRobin(PLAYERS, 2)).map((round): NewLeagueEvent => ({ type: "round_paired", ...round })),
  ];
  await ledger.execute(() =>
    ok({
      leagueEvents: [
        ...events.map((event) => ({ leagueId: "first", event })),
        { leagueId: "second", event: opened("second") },
      ],
      agentEvents: PLAYERS.map((id) => ({ agentId: id, event: registered(id) })),
      writes: PLAYERS.map((id) => profile(id, `<${id}>`)),
      reply: null,
    }),
  );
  const projections = createProjections(ledger);
  views = {
    projections,
    leagueSeedOf: () => "",
    awaited: () => null,
    logOf: async () => [],
    answerTimesOf: async () => new Map(),
    seedOf: () => "a secret",
  };
});
afterAll(() => {
  db.close();
  rmSync(folder, { recursive: true, force: true });
});

describe("a league of more than 1,000 matches", () => {
  test("has a resource for the current rounds and one for each round", async () => {
    const schedule = managerResources(views).find(({ uri }) => uri === "league://schedule");
    expect(await schedule?.read({} as never)).toMatchObject({ truncated: true, total: 1_035 });
    const template = managerTemplates(views).find(({ uriTemplate }) => uriTemplate.endsWith("{round_id}"));
    const round = (round_id: string) => template?.read({ league_id: "first", round_id });
    expect(round("45")).toMatchObject({ schedule: { length: 23 } });
    for (const unknown of ["46", "0", "one", ...ALIASES]) expect(round(unknown)).toBeNull();
    expect(template?.canExist?.({ league_id: "first", round_id: "46" })).toBe(false);
    expect(template?.canExist?.({ league_id: "second", round_id: "46" })).toBe(true);
    for (const alias of ALIASES) {
      for (const league_id of ["first", "second"])
        expect(template?.canExist?.({ league_id, round_id: alias })).toBe(false);
    }
    expect(template?.canExist?.({ league_id: "third", round_id: "1" })).toBe(false);
  });
});
