import { err, ok, type Result } from "#shared/lib/result.ts";
import { didYouMean } from "#shared/lib/text.ts";

/** An option that an engine has declared. */
export interface EngineOption {
  readonly name: string;
  readonly type: string;
  readonly min: number | null;
  readonly max: number | null;
  /** Whether a number of its declaration has decimals, which UCI does not define and some engines use. */
  readonly isDecimal: boolean;
  /** The values of an option of the type `combo`. */
  readonly values: readonly string[];
}

type OptionValue = string | number | boolean;

/** Returns the option that a line of an engine declares (`option name Hash type spin default 16 min 1 max 1024`); null for any other line. */
export function optionIn(line: string): EngineOption | null {
  const [, name, type, rest = ""] = /^option name (.+?) type (\w+)(?: (.*))?$/.exec(line.trim()) ?? [];
  if (name === undefined || type === undefined) return null;
  const number = (key: string): number | null => {
    const [, value] = new RegExp(`(?:^| )${key} ([+-]?\\d+(?:\\.\\d+)?)(?: |$)`).exec(rest) ?? [];
    return value === undefined ? null : Number(value);
  };
  const values = type === "combo" ? rest.split(/(?:^| )var /).slice(1) : [];
  return {
    ...{ name, type, min: number("min"), max: number("max") },
    isDecimal: ["default", "min", "max"].some((key) => !Number.isInteger(number(key) ?? 0)),
    values: values.map((value) => value.trim()),
  };
}

/** Returns the command that sets an option, or the reason why the engine does not accept it. */
export function setOption(
  options: readonly EngineOption[],
  wanted: string,
  value: OptionValue,
): Result<string, string> {
  // The names of options and the values of combos are not case sensitive (UCI).
  const isSame = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();
  const option = options.find(({ name }) => isSame(name, wanted));
  if (!option) {
    const names = options.map(({ name }) => name);
    const known =
      names.length === 0 ? "; it has no options" : didYouMean(wanted, names) || `; it has ${names.join(", ")}`;
    return err(`has no option "${wanted}"${known}`);
  }
  const { name, type, min, max, isDecimal, values } = option;
  const text = String(value);
  const set = (accepted: string): Result<string, string> => ok(`setoption name ${name} value ${accepted}`);
  const fault = (form: string): Result<string, string> =>
    err(`does not accept ${JSON.stringify(value)} for ${name}: give ${form}`);
  switch (type) {
    case "spin": {
      const isNumber = (isDecimal ? /^[+-]?\d+(?:\.\d+)?$/ : /^[+-]?\d+$/).test(text);
      const isInRange =
        Number(text) >= (min ?? Number.NEGATIVE_INFINITY) && Number(text) <= (max ?? Number.POSITIVE_INFINITY);
      const range = `${min === null ? "" : ` from ${min}`}${max === null ? "" : ` to ${max}`}`;
      return isNumber && isInRange ? set(text) : fault(`a ${isDecimal ? "" : "whole "}number${range}`);
    }
    case "check":
      return /^(true|false)$/i.test(text) ? set(text.toLowerCase()) : fault("true or false");
    case "combo": {
      const known = values.find((one) => isSame(one, text));
      return known === undefined ? fault(values.map((one) => `"${one}"`).join(" or ")) : set(known);
    }
    case "button":
      return /^(true)?$/i.test(text) ? ok(`setoption name ${name}`) : fault("true, which presses the button");
    default:
      return set(text === "" ? "<empty>" : text);
  }
}
