import {
  type Envelope,
  type EnvelopeOptions,
  newEnvelope as envelopeAt,
  type MessageType,
} from "#shared/protocol/envelope.ts";
import { systemClock } from "../../lib/clock.ts";
import { systemIds } from "../../lib/ids.ts";

/** Creates an envelope with a random id and the current time, unless the test sets them. */
export const newEnvelope = (
  type: MessageType,
  sender: string,
  payload: object,
  options: Partial<EnvelopeOptions> = {},
): Envelope => envelopeAt(type, sender, payload, { messageId: systemIds.uuid(), at: systemClock.iso(), ...options });
