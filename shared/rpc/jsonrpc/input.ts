/** One field of a form, in the few shapes that MCP's elicitation knows. */
export type FormField =
  | {
      readonly type: "string";
      readonly title?: string;
      readonly description?: string;
      readonly enum?: readonly string[];
    }
  | { readonly type: "integer"; readonly title?: string; readonly minimum?: number; readonly maximum?: number }
  | { readonly type: "boolean"; readonly title?: string; readonly description?: string };

/** What a tool asks before it can go on: the caller's user by a form, or the caller's model by a prompt. */
export type Ask =
  | { readonly kind: "form"; readonly message: string; readonly fields: Readonly<Record<string, FormField>> }
  | { readonly kind: "prompt"; readonly system: string; readonly text: string; readonly maxTokens: number };

/** What came back; nothing of it has been checked. `failed` when there was no answer at all; `why` is in our words, never in the caller's. */
export type Said =
  | {
      readonly kind: "form";
      readonly action: "accept" | "decline" | "cancel";
      readonly content: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "failed"; readonly why: string };

/** A tool's answer that asks first. The tool is called again with what was said, and with its `state` as it was. */
export interface InputNeeded {
  readonly asks: Ask;
  /** JSON; signed on its way through the caller, not hidden from it. */
  readonly state: unknown;
  readonly _meta?: object;
  /** Calls `tell` when the question needs no answer any more, until the returned function is called; for callers that keep it open. */
  readonly watchMoot?: (tell: () => void) => () => void;
}

/** What a caller can be asked, and what it has answered. */
export interface CallerInput {
  readonly canFillForms: boolean;
  readonly canPrompt: boolean;
  /** The answer to what this tool asked in the call before; null in a first call. */
  readonly said: Said | null;
  /** The state that went with it; null in a first call. */
  readonly state: unknown;
}

export const isInputNeeded = (answer: object): answer is InputNeeded => "asks" in answer;
