import { z } from "zod";
import type { BoardKind, Game } from "#shared/games/game.ts";
import { didYouMean } from "#shared/lib/text.ts";
import { faultLine } from "../../lib/schema-messages.ts";
import { MAX_PATH_FIELDS } from "../view-history.ts";

/** A part of a value that does not fit the interface of games. */
export interface ShapeFault {
  /** The path of the part, e.g. `["info", "rules"]`; empty for the whole value. */
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

const BOARDS: readonly BoardKind[] = ["chess", "marks", "discs", "words", "hands", "numbers", "cards"];
const text = z.string().min(1);
const flag = z.boolean();

const Team = z.looseObject({ name: text, roles: z.array(z.string()).min(1) });

const Info = z.looseObject({
  name: text.max(100),
  rules: text,
  howToPlay: text.optional(),
  options: z.record(z.string(), text).optional(),
  simultaneous: flag,
  hiddenInformation: flag,
  seesAll: z.array(z.string()).optional(),
  teams: z.array(Team).optional(),
  maxActions: z.int().min(1),
  history: z.array(text).min(1).max(MAX_PATH_FIELDS).optional(),
  historyForPrograms: z.literal(true).optional(),
  listsSample: z.literal(true).optional(),
  board: z.enum(BOARDS).optional(),
  notation: text.optional(),
  winningReason: z.literal("checkmate").optional(),
  needsLanguage: z.literal(true).optional(),
});

const method = z.custom((value) => typeof value === "function", "must be a function");
const schema = z.custom((value) => value instanceof z.ZodType, "must be a zod schema");
const role = z
  .string()
  .regex(/^[A-Za-z]\w{0,49}$/, "a role has letters, digits and underscores, and begins with a letter")
  .refine((name) => name !== "spectator", "spectator is the viewer without a role, so no role may have this name");

const GameShape = z.looseObject({
  id: z
    .string()
    .regex(/^[a-z][a-z0-9_]{0,49}\.v[1-9]\d{0,3}$/, 'must be a name in lower case with a version, e.g. "my_game.v1"'),
  roles: z
    .array(role)
    .min(2)
    .refine((roles) => new Set(roles).size === roles.length, "must not have two equal names"),
  info: Info,
  options: schema,
  action: schema,
  initialState: method,
  toAct: method,
  legalActions: method,
  applyAction: method,
  isTerminal: method,
  outcome: method,
  viewState: method,
  toText: method,
  rounds: method.optional(),
  readAction: method.optional(),
  explainIllegal: method.optional(),
  actionText: method.optional(),
  waitingView: method.optional(),
  endedView: method.optional(),
  optionsOfNew: method.optional(),
  isDriverAction: method.optional(),
});

/**
 * Returns the faults of a value that does not fit the interface `Game`. Checks names and types only;
 * `check-game.ts` checks the behaviour.
 */
export function faultsOfShape(value: unknown): readonly ShapeFault[] {
  const parsed = GameShape.safeParse(value);
  if (!parsed.success) return parsed.error.issues.map((issue) => withHint(issue, value));
  const game = value as Game;
  const names = [...(game.info.seesAll ?? []), ...(game.info.teams ?? []).flatMap(({ roles }) => roles)];
  const unknown = names.find((name) => !game.roles.includes(name));
  if (unknown !== undefined) return [{ path: ["info"], message: `${JSON.stringify(unknown)} is not one of the roles` }];
  const defaults = game.options.safeParse({});
  if (defaults.success) return [];
  const [issue] = defaults.error.issues;
  return [
    { path: ["options"], message: `each option needs a default: ${issue ? faultLine(issue) : "{} is rejected"}` },
  ];
}

/** Adds the name of a similar field to the fault about a missing one. */
function withHint({ path, message }: z.core.$ZodIssue, value: unknown): ShapeFault {
  const parent = path
    .slice(0, -1)
    .reduce<unknown>((node, part) => (node as Record<PropertyKey, unknown>)?.[part], value);
  const field = path.at(-1);
  const isMissing = typeof parent === "object" && parent !== null && field !== undefined && !(field in parent);
  const given = isMissing ? Object.keys(parent).filter((key) => !Object.hasOwn(GameShape.shape, key)) : [];
  return { path, message: isMissing ? `is missing${didYouMean(field, given)}` : message };
}
