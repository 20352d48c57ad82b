/** Registration of referees and players with the league manager. */
import { z } from "zod";
import { MatchCapacity } from "./match-capacity.ts";
import { endpoint, id } from "./message-fields.ts";
import { StartGame } from "./messages.ts";
import { DisplayName } from "./names.ts";
import { Transports } from "./transports.ts";
import { HistoryForm } from "./view-history.ts";

/** Any text is accepted here, so that a wrong join code is rejected as a wrong code and not as a malformed message. */
const join_code = z.string().max(1000).nullish();

/**
 * An element of a player's `game_types`: every other game of the manager. MOVE_REQUEST lists the legal actions of such a
 * game even if the player has `legal_actions: false`, because the player may not know the rules.
 */
export const ANY_GAME = "*";

/** The hash of a bot: a hexadecimal hash, or another short text such as a git commit. */
export const BotHash = z.string().regex(/^[\w.+:-]{1,100}$/, "a bot_hash has 1 to 100 letters, digits, or . + : - _");

export const RefereeRegisterRequest = z.object({
  display_name: DisplayName,
  version: z.string().max(100).default("1.0.0"),
  game_types: z.array(id).max(100),
  contact_endpoint: endpoint,
  max_concurrent_matches: MatchCapacity,
  transports: Transports.nullish(),
  /** Whether people can open pages of the referee at the origin of its endpoint. */
  has_pages: z.boolean().nullish(),
  /** The join code of the league. */
  join_code,
});
export type RefereeRegisterRequest = z.infer<typeof RefereeRegisterRequest>;

export const PlayerRegisterRequest = z.object({
  display_name: DisplayName,
  version: z.string().max(100).default("1.0.0"),
  game_types: z.array(id).max(100),
  /** Identifies the version of the bot, e.g. the SHA-256 of its file. Ratings over several runs distinguish its versions by it. */
  bot_hash: BotHash.nullish(),
  /** null or absent: the player cannot be called, and polls an inbox at the manager. */
  contact_endpoint: endpoint.nullish(),
  league_ids: z.array(id).max(100).nullish(),
  /** false: MOVE_REQUEST does not list the legal actions. */
  legal_actions: z.boolean().nullish(),
  /** false: ROUND_RESULT is not sent to the player. The player's next view also contains the round. */
  round_results: z.boolean().nullish(),
  /** Accepted for players of earlier versions, and ignored. */
  batch: z.boolean().nullish(),
  /** false: announcements of rounds and standings are not sent to the player. */
  announcements: z.boolean().nullish(),
  /** `delta`: the views of later requests lack the part of their history that the player has received. */
  history: HistoryForm.nullish(),
  transports: Transports.nullish(),
  /** true: a person, or a model that calls tools, chooses the moves. A match of such a player waits longer for a silent referee. */
  by_hand: z.boolean().nullish(),
  /** The join code of the league. */
  join_code,
});
export type PlayerRegisterRequest = z.infer<typeof PlayerRegisterRequest>;

const registerResponse = {
  status: z.enum(["ACCEPTED", "REJECTED"]),
  auth_token: z.string().max(1000).nullish(),
  league_ids: z.array(id).nullish(),
  reason: z.string().nullish(),
  error_code: z.string().nullish(),
  /** true: the registration may be accepted if the agent registers again after a second. */
  retryable: z.boolean().nullish(),
};
export const PlayerRegisterResponse = z.object({
  ...registerResponse,
  player_id: id.nullish(),
  /** The URL of the inbox of a player that was registered without an endpoint. */
  inbox: endpoint.nullish(),
  /** `native`: the player is called with the messages of this protocol. Absent in answers of earlier versions. */
  dialect: z.string().max(100).nullish(),
});
export type PlayerRegisterResponse = z.infer<typeof PlayerRegisterResponse>;
export const RefereeRegisterResponse = z.object({
  ...registerResponse,
  referee_id: id.nullish(),
  /** The matches that are still assigned to a referee that registers again. */
  matches: z.array(StartGame).nullish(),
  /** The transports of the manager. Only for referees that offer transports. */
  transports: Transports.nullish(),
  /** The origins of the pages of the manager. Only for referees with pages. */
  page_urls: z.array(endpoint).max(100).nullish(),
});
export type RefereeRegisterResponse = z.infer<typeof RefereeRegisterResponse>;

/** A registered agent asks whether the manager still knows it. */
export const GetRegistration = z.object({ display_name: DisplayName });
