import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { FactsOfGames, GameFacts } from "../game-facts.ts";
import { pathOf } from "../texts/links.ts";

/** The built-in bot that plays every game, and in chess takes what it can. */
const OPPONENT = "greedy";

/** The games that a bot can play well enough, those with a board first. */
const offeredOf = (known: FactsOfGames): readonly (readonly [id: string, facts: GameFacts])[] =>
  Object.entries(known)
    .filter(([, { needsLanguage }]) => !needsLanguage)
    .sort(([, one], [, other]) => Number(other.board !== undefined) - Number(one.board !== undefined));

/** Begins a game against a bot and goes to the person's seat in it. */
export function NewGame({ known }: { readonly known: FactsOfGames }): JSX.Element {
  const [refusal, setRefusal] = useState("");
  const [isBusy, setBusy] = useState(false);
  const start = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const template = new FormData(event.currentTarget as HTMLFormElement).get("template");
    setBusy(true);
    setRefusal("");
    try {
      location.assign(await createGame(String(template)));
    } catch (error) {
      setRefusal(error instanceof Error ? error.message : String(error));
      setBusy(false);
    }
  };
  return (
    <form class="new-game" onSubmit={(event) => void start(event)}>
      <label>
        Play{" "}
        <select name="template">
          {offeredOf(known).map(([id, { name }]) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <button type="submit" disabled={isBusy}>
        Start against a bot
      </button>
      {refusal && <p role="alert">{refusal}</p>}
    </form>
  );
}

/** Gives the path of the person's seat. */
async function createGame(template: string): Promise<string> {
  const body = JSON.stringify({ template, opponent: OPPONENT });
  const headers = { "content-type": "application/json" };
  const response = await fetch("/api/games", { method: "POST", headers, body }).catch(() => null);
  const answer = (await response?.json().catch(() => null)) as {
    link?: unknown;
    error?: { message?: unknown };
  } | null;
  if (response?.ok && typeof answer?.link === "string") return pathOf(answer.link);
  throw new Error(typeof answer?.error?.message === "string" ? answer.error.message : "The game could not be begun.");
}
