import {
  Client,
  type InputRequiredResult,
  isInputRequiredResult,
  ProtocolError,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { z } from "zod";
import { messageOf } from "../../lib/result.ts";
import type { InputNeeded } from "../jsonrpc/caller-input.ts";
import type { HttpContext } from "../jsonrpc/http-context.ts";
import { rpcError } from "../jsonrpc/json-rpc.ts";
import { APPS_EXTENSION } from "./methods.ts";
import { NO_CONNECTION, type OtherService } from "./routed-service.ts";
import { questionIn, responseOf, STATELESS_REVISION } from "./stateless-client.ts";

interface RemoteServiceOptions {
  /** The endpoint of the other process, e.g. `http://127.0.0.1:8002/mcp`. */
  readonly url: string;
  readonly name: string;
  readonly version: string;
  /** Called with the URI of each changed resource that the client has subscribed to. */
  readonly onChanged: (uri: string) => void;
}

const CallTool = z.object({ name: z.string(), arguments: z.looseObject({}).optional() });
const ReadResource = z.object({ uri: z.string() });
/** The state of this process between the rounds of a call: the key of the question, and the state of the other process. */
const RoundState = z.object({ key: z.string(), requestState: z.string().optional() });

/** Practically no time limit: the signal of the caller ends a call. */
const CALL_TIMEOUT_MS = 24 * 3600_000;

/** The tools and resources of a session host in another process, which is called in the stateless revision. */
export class RemoteService implements OtherService {
  readonly #options: RemoteServiceOptions;
  readonly #watched = new Set<string>();
  #client: Promise<Client> | null = null;

  constructor(options: RemoteServiceOptions) {
    this.#options = options;
  }

  readonly methods: OtherService["methods"] = {
    "tools/call": async (params, http) => {
      const { name, arguments: args = {} } = CallTool.parse(params);
      return this.#request(http, async (client) => {
        const result: unknown = await client.callTool(
          { name, arguments: args, ...roundOf(http) },
          {
            allowInputRequired: true,
            timeout: CALL_TIMEOUT_MS,
            ...(http.abortSignal && { signal: http.abortSignal() }),
            ...(http.progress && {
              onprogress: ({ progress, total = 0, message = "" }) => http.progress?.(progress, total, message),
            }),
          },
        );
        return isInputRequiredResult(result) ? inputNeededOf(result) : result;
      });
    },
    "resources/read": async (params, http) => {
      const { uri } = ReadResource.parse(params);
      return this.#request(http, (client) => client.readResource({ uri }));
    },
  };

  readonly onSubscribe = (uri: string): void => {
    if (this.#watched.has(uri)) return;
    this.#watched.add(uri);
    const forget = (): void => void this.#watched.delete(uri);
    this.#connected({})
      .then((client) => client.listen({ resourceSubscriptions: [uri] }))
      .then((subscription) => subscription.closed)
      .then(forget, forget);
  };

  async close(): Promise<void> {
    const client = await this.#client?.catch(() => null);
    await client?.close();
  }

  async #request<T>(http: Partial<HttpContext>, run: (client: Client) => Promise<T>): Promise<T> {
    try {
      return await run(await this.#connected(http));
    } catch (thrown) {
      if (thrown instanceof ProtocolError) throw rpcError(thrown.code, thrown.message, thrown.data);
      throw rpcError(NO_CONNECTION, `The session host at ${this.#options.url} did not answer: ${messageOf(thrown)}`);
    }
  }

  /** Connects with the first request, because the capabilities of the caller are known then. */
  #connected(http: Partial<HttpContext>): Promise<Client> {
    this.#client ??= this.#connect(http).catch((thrown) => {
      this.#client = null;
      throw thrown;
    });
    return this.#client;
  }

  async #connect({ input, showsApps }: Partial<HttpContext>): Promise<Client> {
    const { url, name, version, onChanged } = this.#options;
    const client = new Client(
      { name, version },
      {
        capabilities: {
          ...(input?.canFillForms && { elicitation: {} }),
          ...(input?.canPrompt && { sampling: {} }),
          ...(showsApps && { extensions: { [APPS_EXTENSION]: {} } }),
        },
        versionNegotiation: { mode: { pin: STATELESS_REVISION } },
        inputRequired: { autoFulfill: false }, // the caller is asked, not this process
      },
    );
    client.setNotificationHandler("notifications/resources/updated", ({ params }) => onChanged(params.uri));
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    return client;
  }
}

/** Returns the additional parameters of a repeated call, which contain the answer of the caller; none for a first call. */
function roundOf({ input }: HttpContext): object {
  const state = RoundState.safeParse(input?.state).data;
  if (!state || !input?.answer) return {};
  const response = responseOf(input.answer);
  return {
    inputResponses: response ? { [state.key]: response } : {},
    ...(state.requestState !== undefined && { requestState: state.requestState }),
  };
}

function inputNeededOf({ inputRequests = {}, requestState, _meta }: InputRequiredResult): InputNeeded {
  const [[key, request] = []] = Object.entries(inputRequests);
  const question = request && questionIn(request);
  if (key === undefined || !question) throw new Error("its question has an unsupported form");
  return { question, state: { key, requestState }, ...(_meta && { _meta }) };
}
