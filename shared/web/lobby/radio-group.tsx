import type { JSX } from "preact";

export interface Choice {
  readonly value: string;
  readonly label: string;
  readonly help?: string;
  /** A short text at the end of the line. */
  readonly mark?: string;
}

interface Props {
  readonly legend: string;
  readonly name: string;
  readonly choices: readonly Choice[];
  /** Whether the choices are lines; otherwise they are buttons in a row. */
  readonly isList?: boolean;
  /** The chosen value, if another component needs it; otherwise the first choice is the default. */
  readonly chosen?: string;
  readonly onChoose?: (value: string) => void;
}

/** A choice of one of several values. */
export function RadioGroup({ legend, name, choices, isList, chosen, onChoose }: Props): JSX.Element {
  return (
    <fieldset class={isList ? "radios list" : "radios"}>
      <legend>{legend}</legend>
      <div>
        {choices.map(({ value, label, help, mark }, index) => (
          <label key={value}>
            <input
              type="radio"
              name={name}
              value={value}
              {...(onChoose
                ? { checked: value === chosen, onChange: () => onChoose(value) }
                : { defaultChecked: index === 0 })}
            />
            <span class="choice">
              <span class="name">{label}</span>
              {help && <span class="help">{help}</span>}
              {mark && <span class="mark">{mark}</span>}
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
