/** One field of a form: the subset of MCP's elicitation schema that this project uses. */
export type FormField =
  | {
      readonly type: "string";
      readonly title?: string;
      readonly description?: string;
      readonly enum?: readonly string[];
    }
  | { readonly type: "integer"; readonly title?: string; readonly minimum?: number; readonly maximum?: number }
  | { readonly type: "boolean"; readonly title?: string; readonly description?: string };

/** A question of a tool to its caller: a form for the user of the caller, or a prompt for its model. */
export type CallerQuestion =
  | { readonly kind: "form"; readonly message: string; readonly fields: Readonly<Record<string, FormField>> }
  | { readonly kind: "prompt"; readonly system: string; readonly text: string; readonly maxTokens: number };

/**
 * The answer to a question, not yet validated. `failed` means that there was no answer; `reason` is a text of this project and contains no text of the
 * caller.
 */
export type CallerAnswer =
  | {
      readonly kind: "form";
      readonly action: "accept" | "decline" | "cancel";
      readonly content: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "failed"; readonly reason: string };

/** The result of a tool that needs an answer before it can continue. The tool is called again with the answer and with the unchanged `state`. */
export interface InputNeeded {
  readonly question: CallerQuestion;
  /** A JSON value for the next call. A caller that sends it back can read it, but cannot change it, because it is signed. */
  readonly state: unknown;
  readonly _meta?: object;
  /**
   * Calls `listener` when the question no longer needs an answer. The returned function removes the listener. Used for callers that keep the question
   * open.
   */
  readonly onObsolete?: (listener: () => void) => () => void;
}

/** The questions that a caller can answer, and its last answer. */
export interface CallerInput {
  readonly canFillForms: boolean;
  readonly canPrompt: boolean;
  /** The answer to the question of the previous call of this tool; null in a first call. */
  readonly answer: CallerAnswer | null;
  /** The state of the previous call; null in a first call. */
  readonly state: unknown;
}

/** Whether the result of a tool asks a question. */
export const isInputNeeded = (answer: object): answer is InputNeeded => "question" in answer;
