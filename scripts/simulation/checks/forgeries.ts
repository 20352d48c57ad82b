import { parsedJson } from "#shared/lib/text.ts";
import { FORBIDDEN } from "../hostile.ts";
import { FORGED } from "../liar.ts";
import type { ObservedRequest } from "../machines/connection.ts";
import { playerName } from "../machines/names.ts";
import type { Plan } from "../plan.ts";
import { isCalled } from "../player-plans.ts";
import { type CheckedEnvelope, envelopesIn } from "./envelopes.ts";
import type { Fault } from "./rules.ts";

const FORGERIES: ReadonlySet<string> = new Set([...FORGED, ...FORBIDDEN]);

/** Returns the faults of an answer that accepts what a player may not send. */
export function faultsOfForgeries(plan: Plan, observed: ObservedRequest, reply: string): readonly Fault[] {
  const { from, to, body, isPoll } = observed;
  const fault = (what: string): Fault => `forgeries: ${to} accepted ${what} of ${from}: ${reply.slice(0, 300)}`;
  if (isPoll) return isCalled(plan, from) && reply.includes('"requests"') ? [fault("a poll of another inbox")] : [];
  const requests = envelopesIn(body);
  const faults = envelopesIn(reply).flatMap((answer): readonly Fault[] => {
    const request = requests.find(({ id }) => id === answer.id);
    if (!request) return [];
    if (FORGERIES.has(request.type)) return isRejected(answer) ? [] : [fault(request.type)];
    return isTakeover(plan, from, request) && answer.payload.status === "ACCEPTED" ? [fault("a registration")] : [];
  });
  return isHostile(plan, from)
    ? [...faults, ...(isAcceptedInDialect(body, reply) ? [fault("a message")] : [])]
    : faults;
}

const isHostile = ({ players }: Plan, machine: string): boolean =>
  players.some((behaviour, n) => behaviour === "hostile" && playerName(n) === machine);

const isRejected = ({ type, payload }: CheckedEnvelope): boolean =>
  type.endsWith("_ERROR") || (type === "GAME_INVITE_RESPONSE" && payload.accept === false);

/** Whether a registration does not name a player of the machine that has sent it. */
const isTakeover = ({ players, former }: Plan, machine: string, { type, payload }: CheckedEnvelope): boolean =>
  /^(PLAYER|REFEREE)_REGISTER_REQUEST$/.test(type) &&
  players.some(
    (_, n) =>
      machine === playerName(n) &&
      payload.display_name !== `P${n + 1}` &&
      !(n === former && payload.display_name === `Q${n + 1}`),
  );

/** Whether an agent has accepted a message in another dialect. A hostile player is a native one. */
function isAcceptedInDialect(body: string, reply: string): boolean {
  if (!body.includes('"message_type"')) return false;
  const { result } = (parsedJson(reply) ?? {}) as { readonly result?: Readonly<Record<string, unknown>> };
  return result?.status === "ACCEPTED" || result?.status === "REGISTERED";
}
