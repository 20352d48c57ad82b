import { z } from "zod";

/** The transport over one WebSocket at the endpoint of an agent (PROTOCOL.md, section 4). */
export const WEBSOCKET = "websocket";

/** The transports that the agents of this project offer besides HTTP POST. */
export const OWN_TRANSPORTS: readonly string[] = [WEBSOCKET];

/** The transports that an agent offers besides HTTP POST. Unknown ones are ignored. */
export const Transports = z.array(z.string().max(100)).max(20);

/** Whether an agent can be called over a WebSocket. */
export const offersWebSocket = (transports: readonly string[] | null | undefined): boolean =>
  transports?.includes(WEBSOCKET) ?? false;

/** The field `transports` of an agent that can be called over a WebSocket. Without the offer it is absent, as for agents of earlier versions. */
export const transportsField = (isOffered: boolean): { readonly transports?: string[] } =>
  isOffered ? { transports: [WEBSOCKET] } : {};
