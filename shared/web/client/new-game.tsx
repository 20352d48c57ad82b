import type { JSX } from "preact";
import { useState } from "preact/hooks";

/** Games that a person can play against a bot at once. */
const TEMPLATES = [
  ["chess.v1", "Chess"],
  ["tic_tac_toe.v1", "Tic-tac-toe"],
  ["connect_four.v1", "Connect Four"],
  ["kuhn_poker.v1", "Kuhn poker"],
  ["rps.v1", "Rock, paper, scissors"],
  ["even_odd.v1", "Even or odd"],
] as const;

/** Begins a game against a bot and goes to the person's seat in it. */
export function NewGame(): JSX.Element {
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
          {TEMPLATES.map(([id, name]) => (
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

/** Gives the link to the person's seat. */
async function createGame(template: string): Promise<string> {
  const body = JSON.stringify({ template, opponent: "bot" });
  const headers = { "content-type": "application/json" };
  const response = await fetch("/api/games", { method: "POST", headers, body }).catch(() => null);
  const answer = (await response?.json().catch(() => null)) as {
    link?: unknown;
    error?: { message?: unknown };
  } | null;
  if (response?.ok && typeof answer?.link === "string") return answer.link;
  throw new Error(typeof answer?.error?.message === "string" ? answer.error.message : "The game could not be begun.");
}
