import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import type { Game } from "#shared/games/game.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import type { RecordedEvent } from "#shared/lib/hash-chain.ts";
import { matchRef, playerId } from "#shared/lib/ids.ts";
import { createRandom } from "#shared/lib/rng.ts";
import type { LeagueConfig } from "#shared/runtime/config.ts";
import { eventOf } from "#shared/session/entry.ts";
import { outcomeOf } from "#shared/session/match-result.ts";
import { matchSeed } from "#shared/session/match-seed.ts";
import { create, decide, type Session } from "#shared/session/session.ts";
import { chainOf } from "#shared/session/testing-rows.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { createLeague, drawUp, type League, type Match } from "../league-manager/league.ts";
import { MANAGER_SCHEMA } from "../league-manager/tables.ts";

const RUN_SEED = "a synthetic run";
const AT = "2026-01-01T00:00:00.000Z";

/**
 * Writes the folder of a completed run as `league run` writes it, but without playing over the network: one round robin, in which every match has
 * a log that replays to its result. Returns the number of matches.
 */
export function writeSyntheticRun(folder: string, playerCount: number): number {
  const config: LeagueConfig = { league_id: "synthetic", game: "tic_tac_toe.v1", options: {}, format: "round-robin" };
  const league = createLeague(config);
  for (let ordinal = 1; ordinal <= playerCount; ordinal++) league.entrants.add(playerId(ordinal));
  drawUp(league);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "config.json"), JSON.stringify({ leagues: [config] }));
  const db = openSqlite(join(folder, "league-manager.sqlite"), MANAGER_SCHEMA);
  db.exec("BEGIN");
  writeLeague(db, league);
  for (const match of league.matches.values()) writeMatch(db, league.game, match);
  db.exec("COMMIT");
  db.close();
  return league.matches.size;
}

function writeLeague(db: DatabaseSync, { config, entrants }: League): void {
  db.prepare("INSERT INTO meta (key, value) VALUES ('seed', ?)").run(RUN_SEED);
  db.prepare("INSERT INTO leagues (league_id, status) VALUES (?, 'completed')").run(config.league_id);
  const agent = db.prepare(
    `INSERT INTO agents (agent_id, kind, display_name, endpoint, token_hash, state, fails, game_types,
       legal_actions, round_results, batch, max_concurrent, dialect)
     VALUES (?, 'player', ?, '', ?, 'SHUTDOWN', 0, '[]', 1, 1, 1, 0, 'native')`,
  );
  const entrant = db.prepare("INSERT INTO entrants (league_id, player_id) VALUES (?, ?)");
  for (const id of entrants) {
    agent.run(id, `Player ${id}`, id);
    entrant.run(config.league_id, id);
  }
}

function writeMatch(db: DatabaseSync, game: Game, { leagueId, matchId, roundId, roles }: Match): void {
  const about = { league_id: leagueId, match_id: matchId, epoch: 1 };
  const seed = matchSeed({ seed: RUN_SEED, seedRule: "per_match" }, leagueId, matchId, 1);
  const { session, rows } = played(game, roles, seed, matchRef(leagueId, matchId));
  const result = { ...about, round_id: roundId, ...outcomeOf(session, rows.at(-1)?.hash ?? "", roles) };
  db.prepare(
    `INSERT INTO matches (league_id, match_id, round_id, roles, status, epoch, referee_id, aborts)
     VALUES (?, ?, ?, ?, 'completed', 1, 'REF01', 0)`,
  ).run(leagueId, matchId, roundId, JSON.stringify(roles));
  db.prepare(
    `INSERT INTO results (league_id, match_id, epoch, referee_id, result, log, seed, recorded_at)
     VALUES (?, ?, 1, 'REF01', ?, ?, ?, ?)`,
  ).run(leagueId, matchId, JSON.stringify(result), JSON.stringify(rows.map(({ body }) => body)), seed, AT);
}

function played(
  game: Game,
  roles: Match["roles"],
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
