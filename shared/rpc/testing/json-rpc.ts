/** JSON-RPC 2.0 messages as tests send and answer them. */

/** A JSON-RPC message as an object. Tests that send malformed messages override its fields. */
type RpcMessage = Readonly<Record<string, unknown>>;

export const rpcRequest = (method: string, params?: unknown, id: unknown = 1): RpcMessage => ({
  jsonrpc: "2.0",
  id,
  method,
  ...(params !== undefined && { params }),
});

/** A call of an MCP tool. */
export const rpcToolCall = (name: string, args: object = {}, id: unknown = 1): RpcMessage =>
  rpcRequest("tools/call", { name, arguments: args }, id);

/** A call of the tool `league_message`, which every agent has. */
export const rpcLeagueMessage = (envelope: object, id: unknown = 1): RpcMessage =>
  rpcToolCall("league_message", envelope, id);

/** A read of an MCP resource. */
export const rpcResourceRead = (uri: string): RpcMessage => rpcRequest("resources/read", { uri });

/** A notification is a request without an id, which is not answered. */
export const rpcNotification = (method: string, params?: unknown): RpcMessage => ({
  jsonrpc: "2.0",
  method,
  ...(params !== undefined && { params }),
});

export const rpcResponse = (id: unknown, result: unknown): RpcMessage => ({ jsonrpc: "2.0", id, result });

export const rpcErrorResponse = (id: unknown, error: unknown): RpcMessage => ({ jsonrpc: "2.0", id, error });

/** The result of a tool: a value as JSON text. */
export const textResult = (value: unknown) => ({ content: [{ type: "text" as const, text: JSON.stringify(value) }] });
