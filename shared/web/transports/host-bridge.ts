/** JSON-RPC 2.0 with the host of an MCP App (MCP Apps 2026-01-26), by messages between frames. */
export interface HostBridge {
  /** Sends a request. Rejects with the host's message, or if the host does not answer in time. */
  request(method: string, params: object, timeoutMs?: number): Promise<unknown>;
  notify(method: string, params: object): void;
  close(): void;
}

/** Handles a request or notification of the host. Returns the result, or undefined for an unknown method. */
type HostListener = (method: string, params: Record<string, unknown>) => object | undefined;

interface Message {
  readonly jsonrpc?: unknown;
  readonly id?: string | number;
  readonly method?: unknown;
  readonly params?: Record<string, unknown>;
  readonly result?: unknown;
  readonly error?: { readonly message?: unknown };
}

const TIMEOUT_MS = 30_000;
const METHOD_NOT_FOUND = -32601;

/** Connects to the host. Calls `listener` for each message of the host. */
export function connectHost(listener: HostListener): HostBridge {
  const pending = new Map<string | number, { resolve(value: unknown): void; reject(error: Error): void }>();
  let lastId = 0;
  // The origin of the host is unknown. Only messages of the parent window are accepted.
  const post = (message: object): void => window.parent.postMessage({ jsonrpc: "2.0", ...message }, "*");

  const onMessage = ({ source, data }: MessageEvent<Message | null>): void => {
    if (source !== window.parent || data?.jsonrpc !== "2.0") return;
    if (typeof data.method === "string") answer(data.method, data);
    else if (data.id !== undefined) settle(data.id, data);
  };
  const settle = (id: string | number, data: Message): void => {
    const request = pending.get(id);
    if (data.error) request?.reject(new Error(String(data.error.message ?? "The host rejected the request.")));
    else request?.resolve(data.result);
  };
  const answer = (method: string, { id, params }: Message): void => {
    const result = listener(method, params ?? {});
    if (id === undefined) return;
    if (result) post({ id, result });
    else post({ id, error: { code: METHOD_NOT_FOUND, message: `Method not found: ${method}` } });
  };
  addEventListener("message", onMessage);

  return {
    async request(method, params, timeoutMs = TIMEOUT_MS) {
      const id = ++lastId;
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      const timer = setTimeout(() => reject(new Error("The host has not answered.")), timeoutMs);
      pending.set(id, { resolve, reject });
      post({ id, method, params });
      return promise.finally(() => {
        clearTimeout(timer);
        pending.delete(id);
      });
    },
    notify: (method, params) => post({ method, params }),
    close() {
      removeEventListener("message", onMessage);
      for (const { reject } of pending.values()) reject(new Error("The board was closed."));
    },
  };
}
