import type { JSX } from "preact";
import type { GameFacts } from "../game-facts.ts";

/** The rules of a game for people, below a summary, because most people know them. */
export const HowToPlay = ({ facts }: { readonly facts: GameFacts | undefined }): JSX.Element | null =>
  facts?.howToPlay ? (
    <details class="how-to-play">
      <summary>How to play</summary>
      <p>{facts.howToPlay}</p>
    </details>
  ) : null;
