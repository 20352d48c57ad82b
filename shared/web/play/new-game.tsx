import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { OptionField } from "#shared/games/new-game-choices.ts";
import type { FactsOfGames } from "#shared/web/game-view.ts";
import { HowToPlay } from "#shared/web/layout/game-parts.tsx";
import type { NewGameChoice } from "#shared/web/play-documents.ts";
import { capitalized, roleInWords } from "#shared/web/texts/game-texts.ts";
import { createGame, newGameChoices } from "#shared/web/transports/games-api.ts";
import { savedName, saveName } from "#shared/web/transports/saved-games.ts";
import { messageOf } from "#shared/web/transports/transport.ts";

const ANY = "any";
/** The part of the address that names the form. */
const ANCHOR = "new-game";

/** The form for a new game: the game, the role, the opponent and the options. It opens the page of the person's seat. */
export function NewGame({ known }: { readonly known: FactsOfGames }): JSX.Element {
  const [choices, setChoices] = useState<readonly NewGameChoice[]>([]);
  const [template, setTemplate] = useState("");
  const [rejection, setRejection] = useState("");
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    newGameChoices().then(
      ({ games }) => {
        setChoices(games);
        setTemplate(games[0]?.template ?? "");
      },
      (error: unknown) => setRejection(messageOf(error)),
    );
  }, []);
  // The form did not exist yet when the browser followed the link to it, and the games above it appear later.
  useEffect(() => {
    if (choices.length > 0 && location.hash === `#${ANCHOR}`) document.getElementById(ANCHOR)?.scrollIntoView();
  }, [choices]);
  const choice = choices.find((one) => one.template === template);
  const start = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    if (!choice) return;
    const fields = new FormData(event.currentTarget as HTMLFormElement);
    const role = String(fields.get("role"));
    const name = String(fields.get("name") ?? "").trim();
    saveName(name);
    setBusy(true);
    setRejection("");
    try {
      location.assign(
        await createGame({
          template,
          opponent: String(fields.get("opponent")),
          play_as: role === ANY ? oneOf(choice.roles) : role,
          options: optionsIn(choice.options, fields),
          ...(name !== "" && { name }),
        }),
      );
    } catch (error) {
      setRejection(withLabels(messageOf(error), choice.options));
      setBusy(false);
    }
  };
  return (
    <form
      id={ANCHOR}
      class="new-game"
      aria-label="New game"
      onInput={() => setRejection("")}
      onSubmit={(event) => void start(event)}
    >
      <h2>New game</h2>
      {choices.length > 0 && (
        <RadioGroup
          legend="Game"
          name="template"
          chosen={template}
          onChoose={setTemplate}
          choices={choices.map(({ template: id }) => ({ value: id, label: known[id]?.name ?? id }))}
        />
      )}
      {choice && (
        // The fields begin again with each game.
        <div key={template} class="fields">
          <HowToPlay facts={known[template]} />
          <RadioGroup legend="You play" name="role" choices={rolesOf(choice)} />
          <RadioGroup legend="Opponent" name="opponent" choices={opponentsOf(choice)} isList />
          <label class="field">
            Your name
            <input name="name" dir="auto" maxLength={60} autocomplete="nickname" defaultValue={savedName()} />
          </label>
          <OptionFields options={choice.options} />
          <button type="submit" class="primary" disabled={isBusy}>
            Start the game
          </button>
        </div>
      )}
      {rejection && (
        <p class="notice rejection" role="alert">
          {capitalized(rejection)}
        </p>
      )}
    </form>
  );
}

const oneOf = (roles: readonly string[]): string => roles[Math.floor(Math.random() * roles.length)] ?? "";

const rolesOf = ({ roles }: NewGameChoice): readonly Choice[] => [
  ...roles.map((role) => ({ value: role, label: roleInWords(role) })),
  { value: ANY, label: "Any" },
];

function opponentsOf({ opponents, roles }: NewGameChoice): readonly Choice[] {
  const isPair = roles.length === 2;
  return [
    ...opponents.map(({ bot, level, description }) => ({
      value: bot,
      label: capitalized(bot.replaceAll("-", " ")),
      help: capitalized(description),
      ...(level !== null && { mark: level }),
    })),
    {
      value: "human",
      label: isPair ? "A friend" : "Friends",
      help: isPair ? "You get a link and a QR code to send" : "You get a link for each of them",
    },
    { value: "agent", label: "A language model", help: "You get a text to paste into an MCP host such as Claude" },
  ];
}

const PREFIX = "option-";

/** The options of a game as fields of a form, below a summary, because most people play with the defaults. */
function OptionFields({ options }: { readonly options: readonly OptionField[] }): JSX.Element | null {
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
function optionsIn(
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
function withLabels(rejection: string, options: readonly OptionField[]): string {
  const option = options.find(({ name }) => rejection.startsWith(`options: ${name}: `));
  return option ? rejection.replace(`options: ${option.name}`, () => option.label) : rejection;
}

interface Choice {
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
function RadioGroup({ legend, name, choices, isList, chosen, onChoose }: Props): JSX.Element {
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
