/** What a person chooses for a new game. Pages import the types, and no values. */

import { z } from "zod";
import { type Game, spoken } from "./game.ts";

/** How strong an opponent is, for people who choose one. */
export type Level = "very easy" | "easy" | "medium" | "hard" | "very hard";

/** An opponent for people. */
export interface Opponent {
  /** The name of the bot. */
  readonly bot: string;
  /** null if it is not known. */
  readonly level: Level | null;
  /** How it plays, as a sentence without a full stop. */
  readonly description: string;
}

/** An option of a game as a field of a form. */
export interface OptionField {
  /** The name of the option. */
  readonly name: string;
  readonly label: string;
  /** What the option means, without the default. */
  readonly help: string;
  readonly kind: "number" | "choice" | "text";
  /** The value in the field at first. */
  readonly preset?: string | number;
  readonly min?: number;
  readonly max?: number;
  readonly choices?: readonly { readonly value: string; readonly label: string }[];
}

interface FieldTexts {
  readonly label: string;
  readonly help?: string;
  /** The value for people, if another one than the game's default suits them better. */
  readonly preset?: number;
  readonly choices?: Readonly<Record<string, string>>;
}

/** The words of the options of built-in games. An option of a built-in game that is not listed is for programs. */
const TEXTS: Readonly<Record<string, Readonly<Record<string, FieldTexts>>>> = {
  "chess.v1": {
    max_plies: { label: "Draw after this many moves of both sides", help: "Empty: no limit." },
    fen: { label: "Starting position (FEN)", help: "Empty: the usual position." },
  },
  "rps.v1": { best_of: { label: "Rounds", preset: 5, help: "The game ends earlier when a player cannot be caught." } },
  "even_odd.v1": {
    variant: {
      label: "Variant",
      choices: { sum: "Sum of both numbers", draw: "Guess a drawn number" },
      help: "Either both choose a number, and the sum decides; or both guess whether a drawn number is even or odd.",
    },
    rounds_to_win: { label: "Rounds to win", help: "Empty: 3, or 1 in the guessing variant." },
    max_rounds: { label: "Rounds at most", help: "Empty: 5, or 1 in the guessing variant." },
  },
  "kuhn_poker.v1": { hands: { label: "Hands", help: "An even number is fair." } },
  "codenames.v1": {
    starting_team: { label: "First team", choices: { red: "Red", blue: "Blue" }, help: "Default: drawn by lot." },
  },
};

/** The parts of a JSON Schema that a field needs. */
interface Property {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** Returns the options of a game that people choose, as fields of a form. Options with values that a field cannot hold are omitted. */
export function optionFields({ id, info, options }: Pick<Game, "id" | "info" | "options">): readonly OptionField[] {
  const schema = z.toJSONSchema(options, { io: "input", unrepresentable: "any" }) as {
    readonly properties?: Readonly<Record<string, Property>>;
  };
  const texts = TEXTS[id];
  const own = (name: string): FieldTexts | undefined =>
    texts ? texts[name] : { label: capitalized(spoken(name)), help: info.options?.[name] ?? "" };
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const words = own(name);
    const kind = kindOf(property);
    return words && kind ? [fieldOf(name, kind, property, words)] : [];
  });
}

function kindOf({ type, enum: values }: Property): OptionField["kind"] | null {
  if (values?.every((value) => typeof value === "string")) return "choice";
  if (type === "integer") return "number";
  return type === "string" ? "text" : null;
}

function fieldOf(name: string, kind: OptionField["kind"], property: Property, words: FieldTexts): OptionField {
  const { default: fallback, minimum, maximum, enum: values } = property;
  const preset = words.preset ?? fallback;
  return {
    name,
    kind,
    label: words.label,
    help: words.help ?? "",
    ...((typeof preset === "string" || typeof preset === "number") && { preset }),
    ...(kind === "number" && minimum !== undefined && { min: minimum }),
    ...(kind === "number" && maximum !== undefined && { max: maximum }),
    ...(kind === "choice" && {
      choices: (values ?? []).map((value) => ({
        value: String(value),
        label: words.choices?.[String(value)] ?? capitalized(spoken(String(value))),
      })),
    }),
  };
}

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
