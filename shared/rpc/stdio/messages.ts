import {
  type JSONRPCErrorResponse,
  type JSONRPCMessage,
  type JSONRPCNotification,
  type JSONRPCRequest,
  type JSONRPCResultResponse,
  PROTOCOL_VERSION_META_KEY,
} from "@modelcontextprotocol/client";

type JSONRPCResponse = (JSONRPCErrorResponse | JSONRPCResultResponse) & { readonly id: string | number };

// The guards of the SDK validate a message with a schema. These messages have been validated already.

export const isRequest = (message: JSONRPCMessage): message is JSONRPCRequest => "method" in message && "id" in message;

export const isResponse = (message: JSONRPCMessage): message is JSONRPCResponse =>
  !("method" in message) && message.id !== undefined;

/** Whether a message is the successful response to a request. */
export const isSuccess = (message: JSONRPCMessage, { id }: JSONRPCRequest): message is JSONRPCResultResponse =>
  "result" in message && message.id === id;

/** Whether a message is of the stateless revision, in which each request names its revision. */
export const isStateless = (message: JSONRPCMessage): boolean =>
  "method" in message && typeof message.params?._meta?.[PROTOCOL_VERSION_META_KEY] === "string";

/** Returns a notification with these parameters. */
export const notification = (method: string, params?: JSONRPCNotification["params"]): JSONRPCNotification => ({
  jsonrpc: "2.0",
  method,
  ...(params && { params }),
});

/** Returns the notification that a resource may have changed. In the stateless revision `_meta` names the subscription. */
export const updated = (uri: string, _meta?: Record<string, unknown>): JSONRPCNotification =>
  notification("notifications/resources/updated", { uri, ...(_meta !== undefined && { _meta }) });

/** Returns the response to a request that failed. */
export const errorFor = (id: string | number, code: number, message: string, data?: unknown): JSONRPCErrorResponse => ({
  jsonrpc: "2.0",
  id,
  error: { code, message, ...(data !== undefined && { data }) },
});
