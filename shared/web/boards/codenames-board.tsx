import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { CodenamesAction, CodenamesCard, CodenamesView, Team } from "../../games/codenames-view.ts";
import { counted } from "../../lib/text.ts";
import { capitalized } from "./action-buttons.tsx";
import type { BoardProps } from "./board-props.ts";
import { ClueFields, clueInWords, History, identityInWords, LETTERS, Legend } from "./codenames-turns.tsx";
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
