/** The fields of an envelope that the checks read. */
export interface CheckedEnvelope {
  /** The id of the JSON-RPC message. An answer has the id of its request. */
  readonly id: number;
  readonly type: string;
  readonly message_id?: string;
  readonly sender: string;
  readonly auth_token?: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** Returns the envelopes in a JSON-RPC request, a response or a batch. */
export function envelopesIn(text: string): readonly CheckedEnvelope[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return [];
  }
  return [value].flat().flatMap((one) => {
    const { id, params, result } = one as Message;
    if (params?.arguments?.payload) return [{ ...params.arguments, id }];
    const answer = result?.content?.[0]?.text;
    return answer?.startsWith("{") ? [{ ...(JSON.parse(answer) as CheckedEnvelope), id }] : [];
  });
}

/** Returns a key for the turn of a MOVE_REQUEST: match, epoch and tick. */
export const turnOf = ({ match_id, epoch, tick }: CheckedEnvelope["payload"]): string => `${match_id}/${epoch}/${tick}`;

interface Message {
  readonly id: number;
  readonly params?: { readonly arguments?: CheckedEnvelope };
  readonly result?: { readonly content?: readonly { readonly text?: string }[] };
}

/** A call of a tool, in either form. */
export interface ToolCall {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** The token in the envelope or in the arguments. */
  readonly token: unknown;
}

/** An answer of a tool. A rejection has the fields of an error. */
export interface ToolAnswer {
  readonly isRejected: boolean;
  readonly value: Readonly<Record<string, unknown>>;
}

/** Returns the call of a tool in a JSON-RPC request, or null. A call of `league_message` counts as that of the tool with its message type. */
export function toolCallIn(body: string): ToolCall | null {
  const { params } = JSON.parse(body) as Request;
  if (!params?.arguments) return null;
  const { name, arguments: given } = params;
  if (name !== "league_message") return { tool: name, args: given, token: given.auth_token };
  return {
    tool: String(given.type).toLowerCase(),
    args: given.payload as ToolCall["args"],
    token: given.auth_token,
  };
}

/** Returns the answer of a tool in a JSON-RPC answer; null if it is not that of a tool. */
export function toolAnswerIn(reply: string): ToolAnswer | null {
  try {
    const { result } = JSON.parse(reply) as Reply;
    const value = JSON.parse(result?.content?.[0]?.text ?? "null") as ToolAnswer["value"] | null;
    if (value === null) return null;
    const isEnvelope = value.protocol !== undefined;
    return {
      isRejected: result?.isError === true,
      value: isEnvelope ? (value.payload as ToolAnswer["value"]) : value,
    };
  } catch {
    return null;
  }
}

interface Request {
  readonly params?: { readonly name: string; readonly arguments?: Readonly<Record<string, unknown>> };
}
interface Reply {
  readonly result?: { readonly isError?: boolean; readonly content?: readonly { readonly text?: string }[] };
}
