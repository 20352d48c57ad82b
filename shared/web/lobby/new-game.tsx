import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { FactsOfGames } from "../game-facts.ts";
import { HowToPlay } from "../layout/how-to-play.tsx";
import type { NewGameChoice } from "../play-documents.ts";
import { capitalized, roleInWords } from "../texts/game-texts.ts";
import { createGame, newGameChoices } from "../transports/games-api.ts";
import { savedName, saveName } from "../transports/saved-name.ts";
import { messageOf } from "../transports/transport.ts";
import { OptionFields, optionsIn, withLabels } from "./option-fields.tsx";
import { type Choice, RadioGroup } from "./radio-group.tsx";

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
