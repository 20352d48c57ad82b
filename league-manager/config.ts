import { findGame } from "#shared/games/registry.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { invariant } from "#shared/lib/result.ts";
import type { Config } from "#shared/runtime/config/config.ts";
import { readOrCreateSecret, type Secrets, tokenFileOf } from "#shared/runtime/secret-file.ts";
import { type Place, placesOf } from "./agents/places.ts";
import type { AdmissionPolicy } from "./agents/policy.ts";
import type { LeagueSettings } from "./league/commands.ts";
import { leagueSeed } from "./league/seeds.ts";
import type { RunIdentity } from "./store/run-identity.ts";

/** `roster`: the leagues are for the agents of the config. `count`: they are for every player that registers. */
export type StartWhen = AdmissionPolicy["startWhen"];

/** The places that a config keeps. The data folder of a run holds a token for each agent that the run starts. */
export const keptPlaces = (config: Config, startWhen: StartWhen, dataFolder: string, self: Secrets): readonly Place[] =>
  placesOf(
    config,
    startWhen === "roster"
      ? (kind, name) => sha256Hex(readOrCreateSecret(self, tokenFileOf(dataFolder, kind, name)))
      : null,
  );

export const admissionPolicy = (
  config: Config,
  startWhen: StartWhen,
  places: readonly Place[],
  operatorToken: string,
): AdmissionPolicy => ({
  places,
  startWhen,
  joinCode: config.manager.join_code ?? null,
  // A listed endpoint allows itself only, and no other port or path of its host.
  allowedContacts: {
    hosts: config.allowed_hosts,
    endpoints: config.players.flatMap((player) => ("endpoint" in player ? [player.endpoint] : [])),
  },
  operatorTokenHash: sha256Hex(operatorToken),
  maxPlayers: numbersOf(config, "max_players"),
});

/** A number of those leagues whose config sets it. */
export const numbersOf = (config: Config, field: "min_players" | "max_players"): ReadonlyMap<string, number> =>
  new Map(
    config.leagues.flatMap((league) => {
      const value = league[field];
      return value === undefined ? [] : [[league.league_id, value] as const];
    }),
  );

/** The settings of each league that follow from the config and the run. */
export const leagueSettings = ({ leagues }: Config, { runId, seed }: RunIdentity): readonly LeagueSettings[] =>
  leagues.map(({ league_id, game: id, options }) => {
    const game = findGame(id);
    invariant(game, `unknown game ${id}`);
    return {
      leagueId: league_id,
      runId,
      game: game.id,
      roles: game.roles,
      options,
      format: "round-robin",
      seedCommitment: sha256Hex(leagueSeed(seed, league_id)),
    };
  });
