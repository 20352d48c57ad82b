import { expect, it } from "vitest";
import { act } from "#shared/session/testing/play.ts";
import type { ManagerState } from "../../ledger.ts";
import { createProjections, type Views } from "../../projections/projections.ts";
import { PlayedLeague, playerIds } from "../../testing/played-league.ts";
import { StoredMatches } from "../matches/stored-match.ts";
import { matchAfter } from "../testing/matches.ts";
import type { DocumentKind } from "./document.ts";
import { match } from "./match-document.ts";
import { player } from "./player-document.ts";

const { log } = matchAfter("rps.v1", [act("player_1", "rock"), act("player_2", "scissors")]);

/** Reads a document of a league with a completed match. All agents get another name while the store is read. */
async function readDuringChange(kind: DocumentKind, params: Readonly<Record<string, string>>): Promise<string> {
  const played = new PlayedLeague(playerIds(2), { game: "rps.v1", formatOptions: { cycles: 2 } });
  played.complete("R1M1", [3, 0], "P02");
  const { league } = played;
  const stateWith = (name: string): ManagerState => {
    const ids = [...league.entrants.keys(), "REF01"];
    const agents = new Map(ids.map((id) => [id, { id, name: `${name} of ${id}`, tokenHash: "", state: "ACTIVE" }]));
    return { leagues: new Map([[league.leagueId, league]]), agents } as unknown as ManagerState;
  };
  const ledger = { state: stateWith("earlier name") };
  const slowly = async <T>(value: T): Promise<T> => {
    await new Promise((resolve) => setImmediate(resolve));
    ledger.state = stateWith("later name");
    return value;
  };
  const views: Views = {
    ...played.context().views,
    projections: createProjections(ledger),
    logOf: () => slowly(log),
    seedOf: () => "seed",
    answerTimesOf: () => slowly(new Map()),
  };
  const context = { ...played.context(), views };
  const matches = { ...context.matches, stored: new StoredMatches(views) };
  const document = await kind.read({ ...context, matches }, { league, params, query: new URLSearchParams() });
  expect(ledger.state).toEqual(stateWith("later name"));
  return JSON.stringify(document);
}

const CASES: readonly [string, DocumentKind, Readonly<Record<string, string>>][] = [
  ["match", match, { match: "R1M1" }],
  ["player", player, { player: "P02" }],
];

it.each(CASES)(
  "the document of a %s shows one state, also if the state changes while the store is read",
  async (_, kind, params) => {
    const document = await readDuringChange(kind, params);
    expect(document).toContain("earlier name of P01");
    expect(document).not.toContain("later name");
  },
);
