/** The form of an answer: a JSON object of a schema. */
export interface AnswerFormat {
  /** The name of the schema or the tool. */
  readonly name: string;
  readonly description: string;
  readonly schema: object;
}

/**
 * How an answer in a format is requested: by a JSON schema, by the call of a tool, or by the text of the prompt alone, in the order in which they
 * are tried.
 */
export const answerModes = ["json_schema", "tool", "text"] as const;
export type AnswerMode = (typeof answerModes)[number];

export const firstMode: AnswerMode = answerModes[0];

/** Returns the mode that is tried after an endpoint has rejected a request in `mode`; null after the last one. */
export const modeAfter = (mode: AnswerMode): AnswerMode | null => answerModes[answerModes.indexOf(mode) + 1] ?? null;

/** Returns the fields of a request for an answer in a format. */
export function fieldsOf({ name, description, schema }: AnswerFormat, mode: AnswerMode): object {
  switch (mode) {
    case "json_schema":
      return { response_format: { type: "json_schema", json_schema: { name, strict: true, schema } } };
    case "tool":
      return {
        tools: [{ type: "function", function: { name, description, parameters: schema, strict: true } }],
        tool_choice: { type: "function", function: { name } },
      };
    case "text":
      return {};
  }
}
