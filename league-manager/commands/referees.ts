import { err } from "#shared/lib/result.ts";
import { protocolError } from "#shared/protocol/errors.ts";
import { hasMatch } from "../agents/referee-places.ts";
import type { Decide } from "../ledger.ts";
import { Draft } from "./draft.ts";
import { dropReferee } from "./leave.ts";

/** Forgets a referee without matches. Its withdrawals are settled, because nothing is sent to it any more. */
export const forgetReferee =
  (refereeId: string): Decide<{ readonly refereeId: string }> =>
  (state, at) => {
    if (state.agents.get(refereeId)?.kind !== "referee")
      return err(protocolError("L004", `no referee ${refereeId} is registered`, { referee_id: refereeId }));
    if (hasMatch(state, refereeId)) {
      return err(protocolError("L001", `${refereeId} has matches`, { referee_id: refereeId }, true));
    }
    const draft = new Draft(state, at);
    dropReferee(draft, refereeId);
    return draft.decision({ refereeId });
  };
