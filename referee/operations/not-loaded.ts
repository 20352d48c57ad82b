import { err } from "#shared/lib/result.ts";
import { INVALID_PARAMS, rpcError } from "#shared/rpc/jsonrpc/json-rpc.ts";
import type { ResourceTemplate } from "#shared/rpc/mcp/mcp.ts";
import type { Operation } from "#shared/rpc/mcp/operations.ts";
import { GameNotLoaded, protocolErrorOf } from "../sessions/rejections.ts";

/** Returns an operation that rejects requests about a session whose game is not loaded. */
export const rejectingNotLoaded = (operation: Operation<unknown>): Operation<unknown> => ({
  ...operation,
  async handle(payload, caller) {
    try {
      return await operation.handle(payload, caller);
    } catch (thrown) {
      if (thrown instanceof GameNotLoaded) return err(protocolErrorOf(thrown.rejection));
      throw thrown;
    }
  },
});

/** Returns a template whose resources of sessions without a loaded game are rejected. */
export const rejectingNotLoadedTemplate = (template: ResourceTemplate): ResourceTemplate => ({
  ...template,
  async read(variables) {
    try {
      return await template.read(variables);
    } catch (thrown) {
      if (thrown instanceof GameNotLoaded) throw rpcError(INVALID_PARAMS, thrown.message, thrown.rejection.context);
      throw thrown;
    }
  },
});
