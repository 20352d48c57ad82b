import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { FactsOfGames, GameFacts } from "../game-facts.ts";
import { pathOf } from "../texts/links.ts";

/** The built-in bot that plays every game. In chess it prefers captures. */
const OPPONENT = "greedy";

/** Returns the games that a bot can play, those with a graphical board first. */
const offeredGames = (known: FactsOfGames): readonly (readonly [id: string, facts: GameFacts])[] =>
  Object.entries(known)
    .filter(([, { needsLanguage }]) => !needsLanguage)
    .sort(([, a], [, b]) => Number(b.board !== undefined) - Number(a.board !== undefined));

/** Starts a game against a bot and opens the page of the person's seat. */
export function NewGame({ known }: { readonly known: FactsOfGames }): JSX.Element {
  const [rejection, setRejection] = useState("");
  const [isBusy, setBusy] = useState(false);
  const start = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const template = new FormData(event.currentTarget as HTMLFormElement).get("template");
    setBusy(true);
    setRejection("");
    try {
      location.assign(await createGame(String(template)));
    } catch (error) {
      setRejection(error instanceof Error ? error.message : String(error));
      setBusy(false);
    }
  };
  return (
    <form class="new-game" onSubmit={(event) => void start(event)}>
      <label>
        Play{" "}
        <select name="template">
          {offeredGames(known).map(([id, { name }]) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <button type="submit" disabled={isBusy}>
        Start against a bot
      </button>
      {rejection && <p role="alert">{rejection}</p>}
    </form>
  );
}

/** Creates a game. Returns the path of the person's seat. Throws an Error with a message for the person. */
async function createGame(template: string): Promise<string> {
  const body = JSON.stringify({ template, opponent: OPPONENT });
  const headers = { "content-type": "application/json" };
  const response = await fetch("/api/games", { method: "POST", headers, body }).catch(() => null);
  const answer = (await response?.json().catch(() => null)) as {
    link?: unknown;
    error?: { message?: unknown };
  } | null;
  if (response?.ok && typeof answer?.link === "string") return pathOf(answer.link);
  throw new Error(typeof answer?.error?.message === "string" ? answer.error.message : "The game could not be started.");
}
