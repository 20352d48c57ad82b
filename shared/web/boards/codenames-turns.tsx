import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { type Clue, type CodenamesTurn, type Identity, skipInWords } from "../../games/codenames-view.ts";
import { capitalized } from "./action-buttons.tsx";

const NUMBERS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 0, "unlimited"] as const;

/** The letter of an identity on its cards, for people who do not see its colour. */
export const LETTERS: Readonly<Record<Identity, string>> = { red: "R", blue: "B", neutral: "–", assassin: "✕" };

const IDENTITIES: Readonly<Record<Identity, string>> = {
  red: "red agent",
  blue: "blue agent",
  neutral: "bystander",
  assassin: "assassin",
};
export const identityInWords = (identity: Identity): string => IDENTITIES[identity];

/** Returns a clue as people write it: "OCEAN 2". */
export const clueInWords = ({ word, number }: Clue): string => `${word} ${number}`;

/** The meaning of the letters and colours. */
export const Legend = (): JSX.Element => (
  <ul class="legend" aria-label="Key">
    {(Object.keys(IDENTITIES) as Identity[]).map((identity) => (
      <li key={identity}>
        <span class={`tag agent-${identity}`} aria-hidden="true">
          {LETTERS[identity]}
        </span>{" "}
        {IDENTITIES[identity]}
      </li>
    ))}
  </ul>
);

/** The turns with a clue or without one because it was given up, the newest first. */
export function History({ turns }: { readonly turns: readonly CodenamesTurn[] }): JSX.Element | null {
  const shown = turns.filter(({ clue, skipped }) => clue !== null || skipped !== null);
  if (shown.length === 0) return null;
  return (
    <section class="history" aria-label="History">
      <h2>Clues and guesses</h2>
      <ol reversed>
        {shown.toReversed().map((turn, age) => (
          <li key={shown.length - age}>
            <TurnLine turn={turn} />
          </li>
        ))}
      </ol>
    </section>
  );
}

function TurnLine({ turn: { team, clue, guesses, skipped } }: { readonly turn: CodenamesTurn }): JSX.Element {
  return (
    <>
      <span class={`tag agent-${team}`}>{capitalized(team)}</span> <b>{clue ? clueInWords(clue) : "no clue"}</b>
      {guesses.map(({ word, identity }) => (
        <span key={word} class="guessed">
          <span class={`tag agent-${identity}`} aria-hidden="true">
            {LETTERS[identity]}
          </span>{" "}
          {word} <span class="unseen">{identityInWords(identity)}</span>
        </span>
      ))}
      {skipped !== null && <small> gave up the turn: {skipInWords[skipped]}</small>}
    </>
  );
}

interface ClueProps {
  readonly isSending: boolean;
  readonly onGive: (clue: Clue) => void;
}

/** Not a form, because hosts show boards in sandboxed frames in which forms cannot be submitted. */
export function ClueFields({ isSending, onGive }: ClueProps): JSX.Element {
  const [word, setWord] = useState("");
  const [number, setNumber] = useState<Clue["number"]>(1);
  const isReady = word.trim() !== "" && !isSending;
  const give = (): void => {
    if (isReady) onGive({ word: word.trim(), number });
  };
  return (
    <div class="clue">
      <label class="clue-word">
        Clue
        <input
          value={word}
          maxLength={100}
          placeholder="One word"
          autocomplete="off"
          autocapitalize="characters"
          spellcheck={false}
          enterkeyhint="send"
          onInput={(event) => setWord(event.currentTarget.value)}
          onKeyDown={(event) => event.key === "Enter" && give()}
        />
      </label>
      <label>
        for
        <select onInput={(event) => setNumber(NUMBERS[event.currentTarget.selectedIndex] ?? 1)}>
          {NUMBERS.map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      </label>
      <button type="button" class="primary" aria-disabled={!isReady} onClick={give}>
        {isSending ? "Sending…" : "Give the clue"}
      </button>
    </div>
  );
}
