import { setTimeout as wait } from "node:timers/promises";
import type { CallToolResult, InputRequiredResult, ServerContext } from "@modelcontextprotocol/server";
import { AUDIO, IMAGE } from "./content.ts";

/** A tool or prompt that the suite calls by name. */
export interface Fixture<Answer> {
  readonly name: string;
  readonly description: string;
  call(args: Readonly<Record<string, unknown>>): Answer | Promise<Answer>;
}

export interface ToolFixture extends Fixture<CallToolResult | InputRequiredResult> {
  /** The JSON Schema of the arguments. A tool without it has no arguments. */
  readonly inputSchema?: object;
}

const STEP_MS = 50;

/** Returns a tool result with one text. */
export const text = (text: string): CallToolResult => ({ content: [{ type: "text", text }] });

/** A schema whose keywords must all appear in the answer to tools/list (SEP-1613, SEP-2106). */
const everyKeyword = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema; this object is never awaited
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
};

/** Tools that need no input from the client. */
export const plainTools: readonly ToolFixture[] = [
  {
    name: "test_simple_text",
    description: "Answers with text",
    call: () => text("This is a simple text response for testing."),
  },
  {
    name: "test_image_content",
    description: "Answers with an image",
    call: () => ({ content: [IMAGE] }),
  },
  {
    name: "test_audio_content",
    description: "Answers with audio",
    call: () => ({ content: [AUDIO] }),
  },
  {
    name: "test_embedded_resource",
    description: "Answers with a resource",
    call: () => ({
      content: [
        {
          type: "resource",
          resource: {
            uri: "test://embedded-resource",
            mimeType: "text/plain",
            text: "This is an embedded resource content.",
          },
        },
      ],
    }),
  },
  {
    name: "test_multiple_content_types",
    description: "Answers with text, an image and a resource",
    call: () => ({
      content: [
        { type: "text", text: "Multiple content types test:" },
        IMAGE,
        {
          type: "resource",
          resource: {
            uri: "test://mixed-content-resource",
            mimeType: "application/json",
            text: JSON.stringify({ test: "data", value: 123 }),
          },
        },
      ],
    }),
  },
  {
    name: "test_error_handling",
    description: "Always fails",
    call: () => ({ ...text("This tool intentionally returns an error for testing"), isError: true }),
  },
  {
    name: "json_schema_2020_12_tool",
    description: "Answers with its arguments",
    inputSchema: everyKeyword,
    call: (args) => text(JSON.stringify(args)),
  },
];

/** Returns the tools that send notifications to the client before they answer. */
export function contextTools({ mcpReq, http }: ServerContext): readonly ToolFixture[] {
  const report = async (progress: number): Promise<void> => {
    const progressToken = mcpReq._meta?.progressToken;
    if (progressToken === undefined) return;
    await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, total: 100 } });
  };
  return [
    {
      name: "test_tool_with_logging",
      description: "Logs three lines",
      async call() {
        await mcpReq.log("info", "Tool execution started");
        await wait(STEP_MS);
        await mcpReq.log("info", "Tool processing data");
        await wait(STEP_MS);
        await mcpReq.log("info", "Tool execution completed");
        return text("Logged three lines");
      },
    },
    {
      name: "test_logging_tool",
      description: "Logs one line, if the request has set a level",
      async call() {
        await mcpReq.log("info", "A log message");
        return text("Logged one line if the request has set a level");
      },
    },
    {
      name: "test_tool_with_progress",
      description: "Reports its progress three times",
      async call() {
        for (const progress of [0, 50, 100]) {
          await report(progress);
          await wait(STEP_MS);
        }
        return text("Done");
      },
    },
    {
      name: "test_reconnection",
      description: "Closes its stream before it answers; the client must reconnect for the answer (SEP-1699)",
      async call() {
        http?.closeSSE?.();
        await wait(STEP_MS);
        return text("Reconnection test completed successfully");
      },
    },
  ];
}
