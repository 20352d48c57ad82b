import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Clue, CodenamesAction, CodenamesCard, CodenamesTurn, CodenamesView } from "../../games/codenames.ts";
import type { BoardProps } from "./board-props.ts";
import { type Cell, SquareGrid } from "./square-grid.tsx";

const COLUMNS = 5;
const NUMBERS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 0, "unlimited"] as const;

/**
 * The board of Codenames. A team guesses a word by selecting it; a spymaster sees the identities and gives the clue.
 */
export function CodenamesBoard({ game, canAct, onPlay }: BoardProps): JSX.Element {
  const view = game.state as CodenamesView;
  const legal = game.legal_actions as readonly CodenamesAction[];
  const guesses = new Set(canAct ? legal.flatMap((action) => (action.type === "guess" ? [action.word] : [])) : []);
  const rows = Array.from({ length: view.cards.length / COLUMNS }, (_, row) =>
    view.cards.slice(row * COLUMNS, (row + 1) * COLUMNS).map((card) => cellOf(card, guesses.has(card.word))),
  );
  const guess = (word: string): void => {
    if (guesses.has(word)) onPlay({ type: "guess", word });
  };
  return (
    <>
      <SquareGrid label="Codenames board" rows={rows} className="words" start={[0, 0]} onPick={guess} />
      <p>{statusText(view)}</p>
      {canAct && view.phase === "clue" && <ClueFields onGive={(clue) => onPlay({ type: "clue", ...clue })} />}
      {canAct && legal.some(({ type }) => type === "pass") && (
        <button type="button" onClick={() => onPlay({ type: "pass" })}>
          Pass
        </button>
      )}
      <History view={view} />
    </>
  );
}

/** The turns of the game, the newest first. */
function History({ view }: { readonly view: CodenamesView }): JSX.Element | null {
  const turns = view.turns.filter(({ clue, skipped }) => clue !== null || skipped !== null);
  if (turns.length === 0) return null;
  return (
    <section class="history" aria-label="History">
      <h2>History</h2>
      <ol reversed>
        {turns.toReversed().map((turn, age) => (
          <li key={turns.length - age}>
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
      <b>{team}</b>: {clue ? `${clue.word} ${clue.number}` : "no clue"}
      {guesses.map(({ word, identity }) => (
        <span key={word} class={`guessed agent-${identity}`}>
          {word} <small>{identity}</small>
        </span>
      ))}
      {skipped !== null && <small> gave up the turn</small>}
    </>
  );
}

function cellOf({ word, identity, uncovered }: CodenamesCard, canGuess: boolean): Cell {
  const identityLabel = identity === null ? "" : uncovered ? `, uncovered: ${identity}` : `, ${identity}`;
  return {
    id: word,
    label: `${word}${identityLabel}`,
    marks: [
      identity === null ? "unknown" : `agent-${identity}`,
      ...(uncovered ? ["uncovered"] : []),
      ...(canGuess ? ["target"] : []),
    ],
    content: word,
  };
}

function statusText({ remaining, turns, guesses_left, phase, turn }: CodenamesView): string {
  const remainingText = `Agents to find: red ${remaining.red}, blue ${remaining.blue}.`;
  const clue = turns.at(-1)?.clue;
  if (phase !== "guess" || !clue) return remainingText;
  return `${turn}'s clue: ${clue.word} ${clue.number}${guesses_left === null ? "" : `, ${guesses_left} guesses left`}. ${remainingText}`;
}

/** Not a form, because hosts show boards in sandboxed frames in which forms cannot be submitted. */
function ClueFields({ onGive }: { readonly onGive: (clue: Clue) => void }): JSX.Element {
  const [word, setWord] = useState("");
  const [number, setNumber] = useState<Clue["number"]>(1);
  const give = (): void => {
    if (word.trim() !== "") onGive({ word, number });
  };
  return (
    <div class="clue">
      <label>
        Clue{" "}
        <input
          value={word}
          maxLength={100}
          autocomplete="off"
          onInput={(event) => setWord(event.currentTarget.value)}
          onKeyDown={(event) => event.key === "Enter" && give()}
        />
      </label>
      <label>
        for{" "}
        <select onInput={(event) => setNumber(NUMBERS[event.currentTarget.selectedIndex] ?? 1)}>
          {NUMBERS.map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      </label>
      <button type="button" onClick={give}>
        Give the clue
      </button>
    </div>
  );
}
