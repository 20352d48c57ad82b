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
