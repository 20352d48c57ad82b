/** Fields that messages, configs and options of commands share. Commands load this file without the schemas of the messages. */

import { z } from "zod";
import { MAX_PATH_FIELDS } from "#shared/games/view-history.ts";
import { isId, isName } from "#shared/lib/text.ts";

const NOT_AN_ID = "must not contain spaces, control characters or zero-width characters";
/** An id of another program. Ids are printed, so characters that a terminal interprets are rejected where they arrive. */
export const id = z
  .string()
  .min(1)
  .max(200)
  .refine((text) => text === "" || isId(text), NOT_AN_ID);
export const endpoint = z
  .string()
  .max(2000)
  .refine((text) => text === "" || isName(text), "must not contain control characters or zero-width characters");
export const roleMap = <T extends z.ZodType>(value: T) => z.record(z.string().max(100).refine(isId, NOT_AN_ID), value);
export const match = { league_id: id, match_id: id };
/**
 * Returns a compiled schema, which parses faster. It is used for messages that every match or round sends to or
 * receives from a player.
 */
export const compiled = <Shape extends z.ZodRawShape>(shape: Shape) => z.compile(z.object(shape));
export const points = roleMap(z.number());

/** A move as a person or a language model writes it: the text of an action, its number or its JSON object. */
export const WrittenMove = z.union([z.string().max(1_000), z.number(), z.looseObject({})]);

/** The name of an agent for people. It is shown in terminals and on pages. */
export const DisplayName = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .refine(
    (name) => name === "" || isName(name),
    "must be visible text on one line, without control characters or zero-width characters",
  );

export const JOIN_CODE_RULE =
  "a join code is 1 to 100 letters, digits, underscores, dots and dashes, and does not begin with a dot or a dash";

/** A join code. It is part of a command that people copy, so it contains no character that a shell would interpret. */
export const JoinCode = z.string().regex(/^\w[\w.-]{0,99}$/, JOIN_CODE_RULE);

/** The rule for the ids of leagues, for error messages. */
export const LEAGUE_ID_RULE = "use letters, digits, dot, dash and underscore, and not only dots";

/** The id of a new league, in URLs and file names. `.` and `..` are not valid, because they name other folders. */
export const LeagueId = z.string().regex(/^(?!\.+$)[A-Za-z0-9._-]{1,100}$/, LEAGUE_ID_RULE);

const ms = (defaultMs: number, description: string) =>
  z.int().min(1).max(86_400_000).default(defaultMs).describe(`${description}, milliseconds`);

/** The longest time limit for a move, in milliseconds. */
export const LONGEST_MOVE_MS = 86_400_000;

/** The time limit for a move, in milliseconds. */
export const MoveLimit = z.int().min(1).max(LONGEST_MOVE_MS);

/** The timeouts of the league protocol in milliseconds, by operation. Each of them can be configured. */
export const Timeouts = z
  .strictObject({
    referee_register_ms: ms(10_000, "how long one attempt of a referee to register may take"),
    league_register_ms: ms(10_000, "how long one attempt of a player to register may take"),
    join_ms: ms(5_000, "how long a player may take to accept an invitation"),
    move_ms: ms(30_000, "how long a player may take for a move, including repeated attempts"),
    game_over_ms: ms(5_000, "how long a player may take to acknowledge a result"),
    match_result_report_ms: ms(10_000, "how long one attempt to report a result may take"),
    default_ms: ms(10_000, "how long any other call may take"),
    match_ms: ms(86_400_000, "how long a match may take before it is taken from its referee"),
    registration_ms: ms(300_000, "how long `league run` waits for players before it starts without them"),
  })
  .prefault({});
export type Timeouts = z.infer<typeof Timeouts>;

/** The number of matches that a referee plays at the same time. */
export const MatchCapacity = z.int().min(1).max(100_000).default(64);

/** The transport over one WebSocket at the endpoint of an agent (PROTOCOL.md, section 4). */
export const WEBSOCKET = "websocket";

/** The transports that the agents of this project offer besides HTTP POST. */
export const OWN_TRANSPORTS: readonly string[] = [WEBSOCKET];

/** The transports that an agent offers besides HTTP POST. Unknown ones are ignored. */
export const Transports = z.array(z.string().max(100)).max(20);

/** Whether an agent can be called over a WebSocket. */
export const offersWebSocket = (transports: readonly string[] | null | undefined): boolean =>
  transports?.includes(WEBSOCKET) ?? false;

/** The field `transports` of an agent that can be called over a WebSocket. Without the offer it is absent, as for agents of earlier versions. */
export const transportsField = (isOffered: boolean): { readonly transports?: string[] } =>
  isOffered ? { transports: [WEBSOCKET] } : {};

/**
 * The form in which a player receives the history in its views: complete, or without the part that it has received. Forms of later versions count as
 * `full`.
 */
export const HistoryForm = z.enum(["full", "delta"]).catch("full");

/** The part of its history that a view lacks: the first `from` elements of a list. `list` is the path of field names to it. */
export const OmittedHistory = z.object({
  list: z.tuple([z.string()], z.string()).refine(({ length }) => length <= MAX_PATH_FIELDS),
  from: z.int().min(1),
});
export type OmittedHistory = z.infer<typeof OmittedHistory>;

/** The field `history` of a player that wants the new part only. Otherwise it is absent, as for players of earlier versions. */
export const historyField = (wantsDelta: boolean): { readonly history?: "delta" } =>
  wantsDelta ? { history: "delta" } : {};

const milliseconds = z.int().min(0);

/** The times of a player's turns in one match, from the request to the arrival of the accepted answer, as its referee measured them. */
export const AnswerTimes = z.object({
  /** The number of turns that were measured. */
  turns: z.int().min(1),
  median_ms: milliseconds,
  p95_ms: milliseconds,
  max_ms: milliseconds,
  /** The tick of the slowest turn. */
  max_tick: z.int().min(0),
  /** The number of invalid answers and illegal actions. */
  invalid: z.int().min(0),
});
export type AnswerTimes = Readonly<z.infer<typeof AnswerTimes>>;
