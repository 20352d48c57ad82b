import type { Capabilities } from "./agent.ts";
import type { AgentEvent } from "./events.ts";

type Fields = Pick<
  Extract<AgentEvent, { type: "returned" }>,
  "game_types" | "legal_actions" | "round_results" | "batch" | "announcements" | "max_concurrent" | "dialect"
>;

/** Capabilities as the fields of an event. */
export const fieldsOf = (capabilities: Capabilities): Fields => ({
  game_types: capabilities.gameTypes,
  legal_actions: capabilities.wantsLegalActions,
  round_results: capabilities.wantsRoundResults,
  batch: capabilities.takesBatches,
  announcements: capabilities.wantsAnnouncements,
  max_concurrent: capabilities.maxConcurrent,
  dialect: capabilities.dialect,
});

/** The capabilities that an event carries. */
export const capabilitiesOf = (fields: Fields): Capabilities => ({
  gameTypes: fields.game_types,
  wantsLegalActions: fields.legal_actions,
  wantsRoundResults: fields.round_results,
  takesBatches: fields.batch,
  wantsAnnouncements: fields.announcements,
  maxConcurrent: fields.max_concurrent,
  dialect: fields.dialect,
});
