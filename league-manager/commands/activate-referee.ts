import type { Draft } from "./draft.ts";

/** Makes a referee ACTIVE, because a league is running. A referee that was dismissed after earlier leagues is renewed first. */
export function activateReferee(draft: Draft, refereeId: string): void {
  draft.agent(refereeId, { type: "renew" });
  draft.agent(refereeId, { type: "activate" });
}
