import { systemClock } from "../lib/clock.ts";
import { type Envelope, type EnvelopeOptions, newEnvelope as envelopeAt } from "./envelope.ts";
import type { MessageType } from "./messages.ts";

/** A new envelope with the current time of the machine, unless the test sets `at`. */
export const newEnvelope = (
  type: MessageType,
  sender: string,
  payload: object,
  options: Partial<EnvelopeOptions> = {},
): Envelope => envelopeAt(type, sender, payload, { at: systemClock.iso(), ...options });
