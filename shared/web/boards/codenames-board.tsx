import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import {
  type Clue,
  type CodenamesAction,
  type CodenamesCard,
  type CodenamesTurn,
  type CodenamesView,
  type Identity,
  skipInWords,
  type Team,
} from "#shared/games/codenames-view.ts";
import { counted } from "#shared/lib/text.ts";
import { capitalized } from "./action-buttons.tsx";
import type { BoardProps } from "./board-props.ts";
import { type Cell, SquareGrid } from "./square-grid.tsx";

const COLUMNS = 5;
const TEAMS: readonly Team[] = ["red", "blue"];

/**
 * The board of Codenames. A team selects a word and confirms the guess, so that a slip of the finger guesses nothing. A
 * spymaster sees the identities and gives the clue.
 */
export function CodenamesBoard({ game, canAct, pending, onPlay }: BoardProps): JSX.Element {
  const view = game.state as CodenamesView;
  const legal = game.legal_actions as readonly CodenamesAction[];
  const isGiving = legal.some(({ type }) => type === "clue");
  const sent = pending as CodenamesAction | null;
  const guesses = new Set(canAct ? legal.flatMap((action) => (action.type === "guess" ? [action.word] : [])) : []);
  const [selected, select] = useState("");
  // A selection is valid in one turn only.
  useEffect(() => select(""), [game.tick, canAct]);
  const guess = (): void => onPlay({ type: "guess", word: selected });
  const pick = (word: string): void => {
    if (word === selected) guess();
    else if (guesses.has(word)) select(word);
  };
  const last = game.last_action?.action as CodenamesAction | undefined;
  const marked: Marked = {
    guesses,
    selected: sent?.type === "guess" ? sent.word : selected,
    last: last?.type === "guess" ? last.word : "",
  };
  const rows = Array.from({ length: view.cards.length / COLUMNS }, (_, row) =>
    view.cards.slice(row * COLUMNS, (row + 1) * COLUMNS).map((card) => cellOf(card, marked)),
  );
  // Whether the viewer knows the identities of covered cards.
  const hasKey = view.cards.some(({ identity, uncovered }) => identity !== null && !uncovered);
  return (
    <div class="codenames">
      <Score view={view} />
      <p class={`clue-text agent-${view.turn}`} aria-live="polite">
        {phaseText(view, isGiving)} {view.phase === "guess" && <small>{guessesLeft(view)}</small>}
      </p>
      <SquareGrid
        label="Codenames board"
        rows={rows}
        className={hasKey ? "words with-key" : "words"}
        start={[0, 0]}
        onPick={pick}
        onEscape={() => select("")}
      />
      {guesses.size > 0 && (
        <div class="guess">
          {selected ? (
            <button type="button" class="primary" onClick={guess}>
              Guess {selected}
            </button>
          ) : (
            <span>Select a word.</span>
          )}
          {legal.some(({ type }) => type === "pass") && (
            <button type="button" onClick={() => onPlay({ type: "pass" })}>
              Pass
            </button>
          )}
        </div>
      )}
      {isGiving && (
        <ClueFields key={view.turns.length} isSending={!canAct} onGive={(clue) => onPlay({ type: "clue", ...clue })} />
      )}
      {hasKey && <Legend />}
      <History turns={view.turns} />
    </div>
  );
}

/** The number of agents that each team must still find. */
const Score = ({ view: { remaining, turn, phase } }: { readonly view: CodenamesView }): JSX.Element => (
  <ul class="teams" aria-label="Agents to find">
    {TEAMS.map((team) => (
      <li key={team} class={`agent-${team} ${team === turn && phase !== "over" ? "turn" : ""}`}>
        {capitalized(team)} <b>{remaining[team]}</b> to find
      </li>
    ))}
  </ul>
);

/** Returns the clue of the turn, or which role gives it. */
function phaseText({ turns, phase, turn }: CodenamesView, isGiving: boolean): string {
  const clue = turns.at(-1)?.clue;
  if (phase === "over") return "The game is over.";
  if (isGiving) return "Give your team a clue.";
  if (phase === "clue" || !clue) return `${capitalized(turn)} spymaster gives a clue.`;
  return `${capitalized(turn)}'s clue: ${clueInWords(clue)}`;
}

const guessesLeft = ({ guesses_left }: CodenamesView): string =>
  guesses_left === null ? "any number of guesses" : `${counted(guesses_left, "guess", "guesses")} left`;

interface Marked {
  /** The words that the viewer may guess. */
  readonly guesses: ReadonlySet<string>;
  /** The word that is selected or being sent. */
  readonly selected: string;
  /** The word of the last guess; "" if the last action was another one. */
  readonly last: string;
}

function cellOf({ word, identity, uncovered }: CodenamesCard, { guesses, selected, last }: Marked): Cell {
  const labels = [
    ...(identity === null ? [] : [uncovered ? `uncovered: ${identityInWords(identity)}` : identityInWords(identity)]),
    ...(word === selected ? ["selected"] : []),
    ...(word === last ? ["last guess"] : []),
  ];
  const { parts, letters } = printed(word);
  return {
    id: word,
    label: [word, ...labels].join(", "),
    marks: [
      identity === null ? "unknown" : `agent-${identity}`,
      ...(uncovered ? ["uncovered"] : []),
      ...(guesses.has(word) ? ["target"] : []),
      ...(word === selected ? ["selected"] : []),
      ...(word === last ? ["last"] : []),
    ],
    selected: word === selected,
    content: (
      <>
        <WordText parts={parts} letters={letters} />
        {identity !== null && <span class="tag" data-letter={`${uncovered ? "✓" : ""}${LETTERS[identity]}`} />}
      </>
    ),
  };
}

/** A word in a size at which its longest part fits in the width of a card. */
const WordText = ({ parts, letters }: Printed): JSX.Element => (
  <span class="word" style={{ "--letters": letters }}>
    {parts.map((lines) => (lines.length === 1 ? lines[0] : lines.map((line) => <span key={line}>{line}</span>)))}
  </span>
);

interface Printed {
  /** The parts of the word with their spaces and hyphens. A long part has several lines, with a hyphen between them. */
  readonly parts: readonly (readonly string[])[];
  /** The width of the longest line in letters. */
  readonly letters: number;
}

/** The longest part of a word that is printed on one line. */
const LONGEST = 10;

/** The widths of letters in most fonts, relative to "n". Unlisted capitals have 1.2, unlisted letters 1. */
const WIDTHS: readonly (readonly [letters: RegExp, width: number])[] = [
  [/[ijlI'’]/, 0.55],
  [/[frt]/, 0.7],
  [/[mwMW]/, 1.5],
  [/\p{Lu}/u, 1.2],
];
const widthOf = (text: string): number =>
  [...text].reduce((sum, letter) => sum + (WIDTHS.find(([letters]) => letters.test(letter))?.[1] ?? 1), 0);

/** Returns a word as its card shows it. Small letters are narrower than capitals, so they are printed larger. */
function printed(word: string): Printed {
  let letters = 0;
  const parts = word.split(/(?<=[\s-])/).map((part) => {
    const count = Math.ceil(part.length / LONGEST);
    const length = Math.ceil(part.length / count);
    const whole = capitalized(part.toLowerCase());
    const lines = Array.from({ length: count }, (_, line) => whole.slice(line * length, (line + 1) * length));
    letters = Math.max(letters, ...lines.map((line) => widthOf(line.trim()) + (count > 1 ? 0.6 : 0)));
    return lines;
  });
  return { parts, letters };
}

const NUMBERS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 0, "unlimited"] as const;

/** The letter of an identity on its cards, for people who do not see its colour. */
const LETTERS: Readonly<Record<Identity, string>> = { red: "R", blue: "B", neutral: "–", assassin: "✕" };

const IDENTITIES: Readonly<Record<Identity, string>> = {
  red: "red agent",
  blue: "blue agent",
  neutral: "bystander",
  assassin: "assassin",
};
const identityInWords = (identity: Identity): string => IDENTITIES[identity];

/** Returns a clue as people write it: "OCEAN 2". */
const clueInWords = ({ word, number }: Clue): string => `${word} ${number}`;

/** The meaning of the letters and colours. */
const Legend = (): JSX.Element => (
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
function History({ turns }: { readonly turns: readonly CodenamesTurn[] }): JSX.Element | null {
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
function ClueFields({ isSending, onGive }: ClueProps): JSX.Element {
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
