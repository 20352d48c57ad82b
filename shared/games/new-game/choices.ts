/** What a person chooses for a new game. Types only, because pages import them. */

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
