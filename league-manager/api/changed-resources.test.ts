import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ok } from "#shared/lib/result.ts";
import { openLog } from "#shared/runtime/process/logger.ts";
import type { Decision } from "../ledger.ts";
import { type LiveFeedOptions, liveFeed } from "../projections/live-events.ts";
import { createProjections } from "../projections/projections.ts";
import { entered, ledgerOn, opened, profile, registered } from "../store/testing/ledger.ts";
import { changedBy, managerResources, managerTemplates } from "./league-resources.ts";

const LEAGUE_URIS = ["first", "second"].flatMap((id) => [
  `league://${id}/standings`,
  `league://${id}/ratings`,
  `league://${id}/schedule`,
  `league://${id}/schedule/1`,
  `league://${id}/schedule/2`,
  `match://${id}/R1M1`,
  `match://${id}/R2M1`,
]);

type Step = readonly [string, Omit<Decision<null>, "reply">];
type LeagueEvents = NonNullable<Decision<null>["leagueEvents"]>;
type AgentEvents = NonNullable<Decision<null>["agentEvents"]>;

const inFirst = (...events: readonly LeagueEvents[number]["event"][]): Pick<Decision<null>, "leagueEvents"> => ({
  leagueEvents: events.map((event) => ({ leagueId: "first", event })),
});
const ofAgent = (agentId: string, event: AgentEvents[number]["event"]): Pick<Decision<null>, "agentEvents"> => ({
  agentEvents: [{ agentId, event }],
});
const registration = (id: string): Step => [
  `${id} registers`,
  { ...inFirst(entered(id)), ...ofAgent(id, registered(id)), writes: [profile(id, `player ${id}`)] },
];
const R1M1 = { match_id: "R1M1", epoch: 1, referee_id: "REF01" };
const R2M1 = { match_id: "R2M1", epoch: 1, referee_id: "REF01" };
const won = {
  winner: "P1",
  final_scores: {},
  match_points: { P1: 3, P2: 0 },
  faults: [],
  log_head: "",
  reason: "won",
  termination: "normal" as const,
};
const timeout = { type: "timed_out", league_id: "first", match_id: "R1M1", epoch: 2 } as const;

const STEPS: readonly Step[] = [
  registration("P1"),
  registration("P2"),
  registration("P3"),
  ["REF01 registers", { ...ofAgent("REF01", registered("REF01", "referee")), writes: [profile("REF01")] }],
  ["P3 leaves", { ...inFirst({ type: "player_left", player_id: "P3" }), ...ofAgent("P3", { type: "forgotten" }) }],
  [
    "the league starts",
    inFirst(
      { type: "started" },
      { type: "round_paired", round_id: 1, pairings: [{ match_id: "R1M1", players: ["P1", "P2"] }], byes: [] },
    ),
  ],
  ["P1 is activated", ofAgent("P1", { type: "activated" })],
  ["P2 is activated", ofAgent("P2", { type: "activated" })],
  ["the round opens", inFirst({ type: "round_opened", round_id: 1, absent: [] })],
  ["the round is announced", inFirst({ type: "round_announced", round_id: 1 })],
  ["a match is scheduled", inFirst({ type: "match_scheduled", match_id: "R2M1", round_id: 2, players: ["P1", "P2"] })],
  ["a match is assigned", inFirst({ type: "match_assigned", ...R1M1 })],
  ["a match is released", inFirst({ type: "match_released", ...R1M1, reason: "unreachable", detail: "" })],
  ["a withdrawal is settled", inFirst({ type: "withdrawal_settled", ...R1M1 })],
  ["a match is assigned again", inFirst({ type: "match_assigned", ...R1M1, epoch: 2 })],
  ["a match is completed", inFirst({ type: "match_completed", ...R1M1, epoch: 2, ...won })],
  ["P2 is suspended", ofAgent("P2", timeout)],
  ["P2 recovers", ofAgent("P2", { type: "recovered", by: "health" })],
  ["the second round opens", inFirst({ type: "round_opened", round_id: 2, absent: [] })],
  ["its match is assigned", inFirst({ type: "match_assigned", ...R2M1 })],
  ["its match is aborted", inFirst({ type: "match_aborted", ...R2M1, reason: "no answer", log_head: "" })],
  ["the league is completed", inFirst({ type: "completed" })],
  ["P1 is dismissed", ofAgent("P1", { type: "dismissed" })],
  ["P1 is erased", { ...ofAgent("P1", { type: "erased" }), writes: [{ type: "erase_profile", agentId: "P1" }] }],
];

/** Starts a ledger with two leagues. `contents` reads all resources, `takeNotified` returns the URIs that were notified since the last call. */
async function start() {
  const folder = mkdtempSync(join(tmpdir(), "changes-"));
  const { ledger, db } = await ledgerOn(join(folder, "league-manager.sqlite"));
  onTestFinished(() => {
    db.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const commit = (decision: Omit<Decision<null>, "reply">) => ledger.execute(() => ok({ ...decision, reply: null }));
  await commit({ leagueEvents: ["first", "second"].map((leagueId) => ({ leagueId, event: opened(leagueId) })) });
  const projections = createProjections(ledger);
  let notified = new Set<string>();
  const onCommitted: LiveFeedOptions["onCommitted"] = (committed, change) => {
    for (const uri of changedBy(committed, change, projections)) notified.add(uri);
  };
  liveFeed({ ledger, projections, log: openLog(null, "test"), emit: () => {}, onCommitted });
  const views = {
    projections,
    awaited: () => null,
    logOf: async () => [],
    answerTimesOf: async () => new Map(),
    seedOf: () => "",
    leagueSeedOf: () => "",
  };
  const [resources, templates] = [managerResources(views), managerTemplates(views)];
  const contentOf = async (uri: string): Promise<string | null> => {
    const resource = resources.find((candidate) => candidate.uri === uri);
    if (resource) return JSON.stringify(await resource.read({} as never));
    const [scheme, league_id, kindOrMatchId = "", round_id = ""] = uri.split(/:?\/+/);
    const template = templates.find(({ uriTemplate }) =>
      scheme === "match"
        ? uriTemplate.startsWith("match:")
        : new RegExp(`/${kindOrMatchId}${round_id && "/.*"}$`).test(uriTemplate),
    );
    const found = await template?.read({ league_id, match_id: kindOrMatchId, round_id } as never);
    return found ? JSON.stringify(found) : null;
  };
  const contents = async (): Promise<ReadonlyMap<string, string | null>> => {
    const uris = ["league://standings", "league://schedule", ...LEAGUE_URIS];
    return new Map(await Promise.all(uris.map(async (uri) => [uri, await contentOf(uri)] as const)));
  };
  const takeNotified = (): readonly string[] => {
    const uris = [...notified].sort();
    notified = new Set();
    return uris;
  };
  return { commit, contents, takeNotified };
}

test("an event notifies the subscribers of exactly the resources whose content it changes", async () => {
  const { commit, contents, takeNotified } = await start();
  const notified: Record<string, readonly string[]> = {};
  const changed: Record<string, readonly string[]> = {};
  for (const [name, decision] of STEPS) {
    const before = await contents();
    await commit(decision);
    const after = await contents();
    notified[name] = takeNotified();
    // The resource of a new match is not notified, because the notified schedule lists it.
    const isNew = (uri: string): boolean => name === "the league starts" && uri.startsWith("match:");
    changed[name] = [...after.keys()].filter((uri) => before.get(uri) !== after.get(uri) && !isNew(uri)).sort();
  }
  expect(notified).toEqual(changed);
});
