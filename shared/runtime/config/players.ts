import { z } from "zod";
import { didYouMean } from "#shared/lib/text.ts";
import { dialectIds, NATIVE } from "#shared/protocol/dialects/dialect.ts";
import { DisplayName, MoveLimit, WEBSOCKET } from "#shared/protocol/message-fields.ts";
import { isToken } from "../../lib/ids.ts";
import { faultLine } from "../../lib/schema-messages.ts";
import { BotPermissions } from "../bot-permissions.ts";
import { LINES_START_MS } from "../defaults.ts";
import { LlmSettings } from "./llm.ts";
import { UciSettings } from "./uci.ts";

const BOT = "random, another built-in bot, or a .ts, .js, .py, .go or executable file, relative to this file";
const name = DisplayName.describe("the name in the standings");
const move_ms = MoveLimit.optional().describe(
  "the time limit of this player for a move, milliseconds (default: that of the league)",
);
const common = { name, move_ms };
/** A person needs more time for a move than a program. */
const PERSON_MOVE_MS = 300_000;

/** The forms of a player. Each form has a field that the other forms do not have. */
const PLAYER_FORMS = {
  bot: z.strictObject({
    ...common,
    bot: z.string().min(1).describe(BOT),
    allow: BotPermissions.optional().describe("what the code of a .ts or .js bot may use besides its own files"),
  }),
  uci: z.strictObject({
    ...common,
    uci: UciSettings.describe("a chess engine"),
  }),
  command: z.strictObject({
    ...common,
    command: z
      .array(z.string().min(1))
      .min(1)
      .describe('a program that reads and writes lines of JSON, e.g. ["python3", "bot.py"]'),
    protocol: z.literal("lines").describe("how the program is asked for its actions: one line of JSON for each turn"),
    folder: z.string().default(".").describe("the folder in which the program runs, relative to this file"),
    start_ms: z
      .int()
      .min(1)
      .max(3_600_000)
      .optional()
      .describe(
        `time in which the program loads what it needs before its first match, milliseconds (default: ${LINES_START_MS})`,
      ),
    matches: z
      .literal("one")
      .optional()
      .describe("a process for each match, also if the program says that it plays many (default: as the program says)"),
  }),
  llm: z.strictObject({
    ...common,
    llm: LlmSettings.describe("a language model at an endpoint of the chat completions API"),
  }),
  endpoint: z.strictObject({
    ...common,
    endpoint: z
      .url({ protocol: /^https?$/ })
      .describe(
        "the endpoint of a player that is started separately and does not register itself, e.g. http://127.0.0.1:9000/mcp",
      ),
    dialect: z
      .enum([NATIVE, ...dialectIds])
      .optional()
      .describe(
        "the dialect of the player's messages: native (default), or league.v1 or classroom for a program that was written for another version of the protocol",
      ),
    transports: z
      .array(z.literal(WEBSOCKET))
      .max(1)
      .optional()
      .describe('["websocket"]: the player can also be called over a WebSocket, as every player of this project can'),
    secret: z
      .string()
      .refine(isToken, "a secret has 43 characters: use the one that the player prints or stores in its --secret-file")
      .optional()
      .describe(
        "signs the messages to this player, which has the same secret; required for players of this project on other machines",
      ),
  }),
  self: z.strictObject({
    ...common,
    self: z.literal(true).describe("the league waits until a player with this name registers itself"),
  }),
  human: z.strictObject({
    name,
    move_ms: MoveLimit.default(PERSON_MOVE_MS).describe("the time limit of this person for a move, milliseconds"),
    human: z.literal(true).describe("a person who plays in the browser: the run prints and opens the link of the page"),
  }),
};
const PLAYER_FORMS_HELP =
  'a player is {"name", "bot"}, {"name", "uci": {"command"}}, {"name", "command", "protocol": "lines"}, {"name", "llm": {"base_url", "model"}}, {"name", "endpoint"}, {"name", "self": true} or {"name", "human": true}';
/** A player of a config. */
export const Player = z.union(
  [
    PLAYER_FORMS.bot,
    PLAYER_FORMS.uci,
    PLAYER_FORMS.command,
    PLAYER_FORMS.llm,
    PLAYER_FORMS.endpoint,
    PLAYER_FORMS.self,
    PLAYER_FORMS.human,
  ],
  {
    error: ({ input, errors }) => playerFault(input, errors),
  },
);

/**
 * Returns the faults of the form whose field is given. If there is no such form or there are several, returns the
 * unknown fields and the help about the forms.
 */
function playerFault(player: unknown, errors: unknown): string {
  const given = typeof player === "object" && player !== null ? Object.keys(player) : [];
  const faults = errors as readonly (readonly z.core.$ZodIssue[])[];
  const [formFaults, otherFaults] = Object.keys(PLAYER_FORMS).flatMap((form, index) =>
    given.includes(form) ? [faults[index] ?? []] : [],
  );
  if (formFaults && !otherFaults) return formFaults.map(faultLine).join("; ");
  const known = [...new Set(Object.values(PLAYER_FORMS).flatMap(({ shape }) => Object.keys(shape)))];
  const unknown = given.filter((field) => !known.includes(field));
  const hints = unknown.map((field) => `unknown field ${JSON.stringify(field)}${didYouMean(field, known)}`);
  return [...hints, PLAYER_FORMS_HELP].join("; ");
}

export type PlayerConfig = z.infer<typeof Player>;

/** Whether no command starts the player: it has an endpoint, registers itself, or is a person, whose page a program can use. */
export const isStartedElsewhere = (player: PlayerConfig): boolean =>
  "endpoint" in player || "self" in player || "human" in player;
