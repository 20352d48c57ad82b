import type { JSX } from "preact";
import type { OptionField } from "#shared/games/new-game-choices.ts";

const PREFIX = "option-";

/** The options of a game as fields of a form, below a summary, because most people play with the defaults. */
export function OptionFields({ options }: { readonly options: readonly OptionField[] }): JSX.Element | null {
  if (options.length === 0) return null;
  return (
    <details class="options">
      <summary>Options</summary>
      {options.map((option) => (
        <div class="field" key={option.name}>
          <label htmlFor={PREFIX + option.name}>{option.label}</label>
          <Field {...option} />
          {option.help && <span class="help">{option.help}</span>}
        </div>
      ))}
    </details>
  );
}

function Field({ name, kind, preset, min, max, choices = [] }: OptionField): JSX.Element {
  const field = { name: PREFIX + name, id: PREFIX + name };
  if (kind === "choice") {
    return (
      <select {...field} defaultValue={preset ?? ""}>
        {preset === undefined && <option value="">Default</option>}
        {choices.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    );
  }
  if (kind === "number")
    return <input type="number" inputMode="numeric" {...field} min={min} max={max} step={1} defaultValue={preset} />;
  return <input {...field} autocomplete="off" spellcheck={false} defaultValue={preset} />;
}

/** Returns the options that a person has entered. An empty field leaves the default to the game. */
export function optionsIn(
  options: readonly OptionField[],
  fields: Pick<FormData, "get">,
): Readonly<Record<string, string | number>> {
  const entered = options.flatMap(({ name, kind }): (readonly [string, string | number])[] => {
    const text = String(fields.get(`${PREFIX}${name}`) ?? "").trim();
    return text === "" ? [] : [[name, kind === "number" ? Number(text) : text]];
  });
  return Object.fromEntries(entered);
}

/** Returns a rejection with the label of a field in the place of the name of its option. */
export function withLabels(rejection: string, options: readonly OptionField[]): string {
  const option = options.find(({ name }) => rejection.startsWith(`options: ${name}: `));
  return option ? rejection.replace(`options: ${option.name}`, () => option.label) : rejection;
}
