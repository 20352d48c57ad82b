import { historyField, offersWebSocket, transportsField } from "#shared/protocol/message-fields.ts";
import { ANY_GAME } from "#shared/protocol/messages.ts";
import type { Agent, Capabilities } from "./agent.ts";
import type { AgentEvent } from "./events.ts";

type CapabilityFields = Pick<
  Extract<AgentEvent, { type: "returned" }>,
  | "game_types"
  | "legal_actions"
  | "round_results"
  | "announcements"
  | "max_concurrent"
  | "dialect"
  | "bot_hash"
  | "history"
  | "transports"
  | "has_pages"
  | "by_hand"
>;

/** Capabilities as the fields of an event. */
export const fieldsOf = (capabilities: Capabilities): CapabilityFields => ({
  game_types: capabilities.gameTypes,
  legal_actions: capabilities.wantsLegalActions,
  round_results: capabilities.wantsRoundResults,
  announcements: capabilities.wantsAnnouncements,
  max_concurrent: capabilities.maxConcurrent,
  dialect: capabilities.dialect,
  ...(capabilities.botHash !== null && { bot_hash: capabilities.botHash }),
  ...historyField(capabilities.wantsDeltaViews),
  ...transportsField(capabilities.offersWebSocket),
  ...(capabilities.hasPages && { has_pages: true }),
  ...(capabilities.isPlayedByHand && { by_hand: true }),
});

/** The capabilities that an event carries. */
export const capabilitiesOf = (fields: CapabilityFields): Capabilities => ({
  gameTypes: fields.game_types,
  wantsLegalActions: fields.legal_actions,
  wantsRoundResults: fields.round_results,
  wantsAnnouncements: fields.announcements,
  maxConcurrent: fields.max_concurrent,
  dialect: fields.dialect,
  botHash: fields.bot_hash ?? null,
  wantsDeltaViews: fields.history === "delta",
  offersWebSocket: offersWebSocket(fields.transports),
  hasPages: fields.has_pages ?? false,
  isPlayedByHand: fields.by_hand ?? false,
});

/** Whether an agent names a game in its game types, with or without version. */
const namesGame = ({ gameTypes }: Pick<Agent, "gameTypes">, game: string): boolean =>
  gameTypes.some((type) => type === game || game.startsWith(`${type}.`));

/** Whether a player plays a game. */
export const playsGame = (player: Pick<Agent, "gameTypes">, game: string): boolean =>
  player.gameTypes.includes(ANY_GAME) || namesGame(player, game);

/** Whether MOVE_REQUEST lists the legal actions of a game for a player. A player that does not name the game may not know its rules. */
export const needsLegalActions = (player: Pick<Agent, "gameTypes" | "wantsLegalActions">, game: string): boolean =>
  player.wantsLegalActions || !namesGame(player, game);
