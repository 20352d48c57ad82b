/** One field of a form, in the shapes that MCP's elicitation has. */
export type FormField =
  | {
      readonly type: "string";
      readonly title?: string;
      readonly description?: string;
      readonly enum?: readonly string[];
    }
  | { readonly type: "integer"; readonly title?: string; readonly minimum?: number; readonly maximum?: number }
  | { readonly type: "boolean"; readonly title?: string; readonly description?: string };

/** The question of a tool: a form for the caller's user, or a prompt for the caller's model. */
export type Ask =
  | { readonly kind: "form"; readonly message: string; readonly fields: Readonly<Record<string, FormField>> }
  | { readonly kind: "prompt"; readonly system: string; readonly text: string; readonly maxTokens: number };

/** The caller's answer, unchecked. `failed` means that there is no answer; `why` is text of this program, not of the caller. */
export type Said =
  | {
      readonly kind: "form";
      readonly action: "accept" | "decline" | "cancel";
      readonly content: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "failed"; readonly why: string };

/** The result of a tool that needs an answer before it can continue. The tool is called again with the answer and the same `state`. */
export interface InputNeeded {
  readonly asks: Ask;
  /** JSON. It is signed, but the caller can read it. */
  readonly state: unknown;
  readonly _meta?: object;
  /** Calls `onMoot` when the question needs no answer any more, until the returned function is called. For callers that keep the question open. */
  readonly watchMoot?: (onMoot: () => void) => () => void;
}

/** The kinds of question that a caller can answer, and its last answer. */
export interface CallerInput {
  readonly canFillForms: boolean;
  readonly canPrompt: boolean;
  /** The answer to the question of the previous call; null in a first call. */
  readonly said: Said | null;
  /** The state of the previous call; null in a first call. */
  readonly state: unknown;
}

export const isInputNeeded = (answer: object): answer is InputNeeded => "asks" in answer;
