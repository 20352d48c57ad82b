import type { EventStore, GetPromptResult, InputRequiredResult, JSONRPCMessage } from "@modelcontextprotocol/server";
import { z } from "zod";
import type { ResourceTemplate } from "#shared/rpc/mcp/mcp.ts";
import type { Fixture } from "./tools.ts";

/** A PNG image of one red pixel. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
/** A WAV file without samples. */
const WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

export const IMAGE = { type: "image" as const, data: PNG, mimeType: "image/png" };
export const AUDIO = { type: "audio" as const, data: WAV, mimeType: "audio/wav" };

/** The resources that the suite reads. */
export const resources = [
  {
    uri: "test://static-text",
    mimeType: "text/plain",
    text: "This is the content of the static text resource.",
  },
  { uri: "test://static-binary", mimeType: "image/png", blob: PNG },
  { uri: "test://watched-resource", mimeType: "text/plain", text: "This resource never changes." },
] as const;

/** A resource template. The surface matches it as it matches its own templates. */
export const template: ResourceTemplate = {
  uriTemplate: "test://template/{id}/data",
  name: "template",
  description: "A fixture",
  read: ({ id }) => ({ id, templateTest: true, data: `Data for ID: ${id}` }),
};

export interface PromptFixture extends Fixture<GetPromptResult | InputRequiredResult> {
  readonly arguments?: readonly { readonly name: string; readonly description: string; readonly required: true }[];
}

type PromptMessage = GetPromptResult["messages"][number];

/** Returns a message of a prompt. */
export const userMessage = (text: string): PromptMessage => ({ role: "user", content: { type: "text", text } });

const required = (name: string, description: string) => ({ name, description, required: true as const });

/** Prompts that need no input from the client except their arguments. */
export const plainPrompts: readonly PromptFixture[] = [
  {
    name: "test_simple_prompt",
    description: "A prompt without arguments",
    call: () => ({ messages: [userMessage("This is a simple prompt for testing.")] }),
  },
  {
    name: "test_prompt_with_arguments",
    description: "A prompt that shows its arguments",
    arguments: [required("arg1", "First test argument"), required("arg2", "Second test argument")],
    call: ({ arg1, arg2 }) => ({ messages: [userMessage(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)] }),
  },
  {
    name: "test_prompt_with_embedded_resource",
    description: "A prompt with a resource",
    arguments: [required("resourceUri", "URI of the resource to embed")],
    call: ({ resourceUri }) => ({
      messages: [
        {
          role: "user",
          content: {
            type: "resource",
            resource: {
              uri: String(resourceUri),
              mimeType: "text/plain",
              text: "Embedded resource content for testing.",
            },
          },
        },
        userMessage("Please process the embedded resource above."),
      ],
    }),
  },
  {
    name: "test_prompt_with_image",
    description: "A prompt with an image",
    call: () => ({ messages: [{ role: "user", content: IMAGE }, userMessage("Please analyze the image above.")] }),
  },
];

const CompletionParams = z.object({ argument: z.object({ value: z.string() }) });

/** Answers `completion/complete` with the same values for every argument. */
export function complete(params: unknown): object {
  const prefix = CompletionParams.safeParse(params).data?.argument.value ?? "";
  const values = ["paris", "park", "party"].filter((word) => word.startsWith(prefix));
  return { completion: { values, total: values.length, hasMore: false } };
}

/** Creates a store of the events of one session, for clients that reconnect to a stream. */
export function eventStore(): EventStore {
  const events: { readonly streamId: string; readonly message: JSONRPCMessage }[] = [];
  return {
    storeEvent: async (streamId, message) => String(events.push({ streamId, message })),
    async replayEventsAfter(lastEventId, { send }) {
      const lastSeen = Number(lastEventId);
      const streamId = events[lastSeen - 1]?.streamId;
      if (streamId === undefined) throw new Error(`unknown event ${lastEventId}`);
      for (const [index, event] of events.entries()) {
        if (index >= lastSeen && event.streamId === streamId) await send(String(index + 1), event.message);
      }
      return streamId;
    },
  };
}
