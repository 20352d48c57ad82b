import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { roundRobin } from "#shared/formats/round-robin.ts";
import type { Game } from "#shared/games/game.ts";
import { findGame } from "#shared/games/registry.ts";
import { systemClock } from "#shared/lib/clock.ts";
import { type RecordedEvent, sha256Hex } from "#shared/lib/hash.ts";
import { matchRef, playerId, systemIds } from "#shared/lib/ids.ts";
import { createRandom } from "#shared/lib/rng.ts";
import type { LeagueConfig } from "#shared/runtime/config/leagues.ts";
import { eventOf } from "#shared/session/entry.ts";
import { outcomeOf } from "#shared/session/match-result.ts";
import { create, decide, type Session } from "#shared/session/session.ts";
import { chainOf } from "#shared/session/testing/rows.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { localWriter } from "#shared/store/writer.ts";
import {
  agentStream,
  type NewAgentEvent,
  nameCommitment,
  type Profile,
} from "../../league-manager/agents/registered-agent.ts";
import { LEAGUE_FORMAT_VERSION, leagueStream, parseLeagueEvent } from "../../league-manager/league/events.ts";
import { foldLeague } from "../../league-manager/league/evolve.ts";
import { leagueSeed, type NewLeagueEvent, numbered, seedOfMatch } from "../../league-manager/league/league.ts";
import { leagueSnapshot } from "../../league-manager/league/snapshot.ts";
import type { Write } from "../../league-manager/ledger.ts";
import { type LedgerStore, MANAGER_SCHEMA, managerStore, openRun } from "../../league-manager/store/manager-store.ts";

const RUN_SEED = "a synthetic run";
const AT = "2026-01-01T00:00:00.000Z";
const LEAGUE = "synthetic";
const GAME = "tic_tac_toe.v1";

/**
 * Writes the folder of a run of one round robin, as `league run` writes it, without a network. Every match has a log that replays to its result. If
 * `unplayedRounds` is not 0, the last rounds are not played and the league is not completed. Returns the number of completed matches.
 */
export async function writeSyntheticRun(folder: string, playerCount: number, unplayedRounds = 0): Promise<number> {
  const config: LeagueConfig = {
    league_id: LEAGUE,
    game: GAME,
    options: {},
    format: "round-robin",
    format_options: {},
    late_entry: "closed",
  };
  const game = findGame(GAME) as Game;
  const players = Array.from({ length: playerCount }, (_, index) => playerId(index + 1));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "config.json"), JSON.stringify({ leagues: [config] }));
  const db = openSqlite(join(folder, "league-manager.sqlite"), MANAGER_SCHEMA);
  const store = managerStore(db, localWriter(db, systemClock));
  const { runId } = await openRun(store, { seed: RUN_SEED, isOpen: false }, systemIds);
  for (const id of players) await writePlayer(store, id);
  const rounds = numbered(roundRobin(players.toSorted(), game.roles.length));
  let version = await append(store, 0, [
    ...openingEvents(runId, game, players),
    ...rounds.map((round): NewLeagueEvent => ({ type: "round_paired", ...round })),
  ]);
  let matches = 0;
  for (const { round_id, pairings } of rounds.slice(0, rounds.length - unplayedRounds)) {
    const results = pairings.map((pairing) => playPairing(game, pairing));
    matches += results.length;
    version = await append(
      store,
      version,
      [
        { type: "round_opened", round_id, absent: [] },
        ...results.flatMap(({ events }) => events),
        { type: "round_announced", round_id },
      ],
      results.map(({ write }) => write),
    );
  }
  if (unplayedRounds === 0) await append(store, version, [{ type: "completed" }]);
  await writeSnapshot(store);
  await store.close();
  db.close();
  return matches;
}

/** Appends events to the log of the league. Returns the new version. */
async function append(
  store: LedgerStore,
  expectedVersion: number,
  events: readonly NewLeagueEvent[],
  writes: readonly Write[] = [],
): Promise<number> {
  const stored = events.map((event) => ({ type: event.type, body: body(event) }));
  await store.commit([{ stream: leagueStream(LEAGUE), expectedVersion, events: stored }], writes, AT);
  return expectedVersion + events.length;
}

const body = (event: NewLeagueEvent | NewAgentEvent): string =>
  JSON.stringify({ v: LEAGUE_FORMAT_VERSION, at: AT, ...event });

const profileOf = (id: string): Profile => ({
  name: `Player ${id}`,
  salt: sha256Hex(id).slice(0, 43),
  endpoint: "",
  tokenHash: id,
});

async function writePlayer(store: LedgerStore, id: string): Promise<void> {
  const capabilities = {
    game_types: [GAME],
    legal_actions: true,
    round_results: true,
    announcements: true,
    max_concurrent: 0,
    dialect: "native",
  };
  const events: readonly NewAgentEvent[] = [
    {
      type: "registered",
      agent_id: id,
      kind: "player",
      name_commitment: nameCommitment(profileOf(id)),
      ...capabilities,
    },
    { type: "activated" },
  ];
  const stored = events.map((event) => ({ type: event.type, body: body(event) }));
  const write: Write = { type: "profile", agentId: id, profile: profileOf(id) };
  await store.commit([{ stream: agentStream(id), expectedVersion: 0, events: stored }], [write], AT);
}

const openingEvents = (run_id: string, game: Game, players: readonly string[]): readonly NewLeagueEvent[] => [
  {
    type: "opened",
    league_id: LEAGUE,
    run_id,
    game: GAME,
    roles: game.roles,
    options: {},
    format: "round-robin",
    seed_commitment: sha256Hex(leagueSeed(RUN_SEED, LEAGUE)),
  },
  ...players.map((player_id): NewLeagueEvent => {
    return { type: "player_entered", player_id, name_commitment: nameCommitment(profileOf(player_id)) };
  }),
  { type: "started" },
];

/** Plays a match at random. Returns its events and the row of its session log. */
function playPairing(
  game: Game,
  { match_id, players }: { readonly match_id: string; readonly players: readonly string[] },
) {
  const seed = seedOfMatch(leagueSeed(RUN_SEED, LEAGUE), LEAGUE, match_id, 1);
  const roles = Object.fromEntries(game.roles.map((role, index) => [role, players[index] as string]));
  const { session, rows } = playAtRandom(game, roles, seed, matchRef(LEAGUE, match_id));
  const matchFields = { match_id, epoch: 1, referee_id: "REF01" };
  const events: readonly NewLeagueEvent[] = [
    { type: "match_assigned", ...matchFields },
    { type: "match_completed", ...matchFields, ...outcomeOf(session, rows.at(-1)?.hash ?? "", roles) },
  ];
  const log = rows.map((row) => row.body);
  const write: Write = { type: "session_log", leagueId: LEAGUE, matchId: match_id, epoch: 1, seed, log };
  return { events, write };
}

/** Writes the snapshot that a manager writes when a league is completed and when it stops. */
async function writeSnapshot(store: LedgerStore): Promise<void> {
  const stream = leagueStream(LEAGUE);
  const events = await store.readEvents(stream);
  const league = foldLeague(events.map((event) => parseLeagueEvent(event.body)));
  if (!league) throw new Error(`the store has no league ${LEAGUE}`);
  await store.writeSnapshot(stream, league.version, leagueSnapshot(league));
}

/** Plays a session with random actions. Returns the completed session and the rows of its log. */
function playAtRandom(
  game: Game,
  roles: Readonly<Record<string, string>>,
  seed: string,
  id: string,
): { session: Session; rows: RecordedEvent[] } {
  const random = createRandom(sha256Hex(seed));
  const participants = Object.fromEntries(game.roles.map((role) => [role, `${roles[role]}@${id}`]));
  const { entry, next } = create({ id, game, options: game.options.parse({}), participants, seed, at: AT });
  const entries = [entry];
  let session = next;
  while (session.status === "active") {
    const role = random.pick(game.toAct(session.state));
    const action = random.pick(game.legalActions(session.state, role));
    const decided = decide(session, { type: "act", role, action, expectedTick: null }, AT);
    if (!decided.ok) throw new Error(decided.error.message);
    entries.push(decided.value.entry);
    session = decided.value.next;
  }
  return { session, rows: chainOf(id, entries.map(eventOf)) };
}
