import type { Draft } from "./draft.ts";

/** Makes a referee active: a league runs. One that was dismissed after an earlier league is registered anew. */
export function activateReferee(draft: Draft, refereeId: string): void {
  draft.agent(refereeId, { type: "renew" });
  draft.agent(refereeId, { type: "activate" });
}
