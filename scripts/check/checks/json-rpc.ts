import { type Check, failed, passed } from "../check.ts";
import { explainCall } from "../judge/call-fault.ts";

/** Judges the form of the answer to the first invitation. If there is no answer, the check `invitation` reports it. */
export const jsonRpc: Check = {
  id: "json-rpc",
  title: "JSON-RPC answers",
  needs: ["reachable"],
  async run(context) {
    const { call } = await context.firstInvitation();
    if (call.answer.ok)
      return passed(
        `the answer to an invitation can be read (${call.isNative ? "a league.v2 envelope" : "translated from another dialect"})`,
      );
    const { cause } = call.answer.error;
    if (cause === "timeout" || cause === "refused") return passed("there is no answer whose form could be judged");
    const explanation = explainCall(call) ?? { summary: call.answer.error.detail, advice: "" };
    return failed({ ...explanation, exchanges: call.exchanges.slice(-1) });
  },
};
