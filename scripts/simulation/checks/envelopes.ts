/** What the checks read of an envelope. */
export interface Seen {
  /** Of its JSON-RPC message: an answer has that of its request. */
  readonly id: number;
  readonly type: string;
  readonly sender: string;
  readonly auth_token?: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** The envelopes in a request, a reply or a batch of them. */
export function envelopesIn(text: string): readonly Seen[] {
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
    return answer?.startsWith("{") ? [{ ...(JSON.parse(answer) as Seen), id }] : [];
  });
}

/** The turn of a MOVE_REQUEST: its match, epoch and tick. */
export const turnOf = ({ match_id, epoch, tick }: Seen["payload"]): string => `${match_id}/${epoch}/${tick}`;

interface Message {
  readonly id: number;
  readonly params?: { readonly arguments?: Seen };
  readonly result?: { readonly content?: readonly { readonly text?: string }[] };
}
