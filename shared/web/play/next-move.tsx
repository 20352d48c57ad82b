import type { JSX } from "preact";
import { DRAW } from "../../games/chess/draw-offers.ts";
import type { GameFacts } from "../game-facts.ts";
import type { Claim, GameView } from "../game-view.ts";
import { roleInWords } from "../texts/game-texts.ts";
import { isFramed } from "./is-framed.ts";

/** What the person adds to the next move. */
export type Addition = Claim | "offer" | null;

interface Props {
  readonly game: GameView;
  readonly facts: GameFacts | undefined;
  readonly addition: Addition;
  readonly isBusy: boolean;
  readonly onChoose: (addition: Addition) => void;
  readonly onPlay: (action: unknown) => void;
}

/** Returns the role that has offered a draw; null for none, undefined in a game without offers. */
export const offerIn = ({ state }: GameView): string | null | undefined =>
  (state as { readonly draw_offer?: string | null } | null)?.draw_offer;

/** Returns an action with a draw offer. Only actions that are text, the moves of chess, can have one. */
export const withOffer = (action: unknown): unknown => (typeof action === "string" ? `${action} ${DRAW}` : action);

const IF_WRONG = "If the claim is wrong, the move is not made.";

/** The buttons for an offer or a claim with the next move. Also accepts the opponent's offer. */
export function NextMove({ game, facts, addition, isBusy, onChoose, onPlay }: Props): JSX.Element | null {
  const offer = offerIn(game);
  const isOffered = game.legal_actions.includes(DRAW);
  const choices: readonly (readonly [Addition, string, string])[] = [
    ...(offer !== undefined && !isOffered
      ? [["offer", "Offer a draw", "Your next move also offers a draw."] as const]
      : []),
    ...(facts?.winningReason
      ? [
          [
            facts.winningReason,
            `Claim ${facts.winningReason}`,
            `Your next move claims ${facts.winningReason}. ${IF_WRONG}`,
          ],
          ...(isFramed()
            ? []
            : [["draw", "Claim a draw", `Your next move claims that it ends the game in a draw. ${IF_WRONG}`]]),
        ].map((one) => one as [Addition, string, string])
      : []),
  ];
  return (
    <>
      {isOffered && offer && (
        <div class="offer" role="status">
          <p>{roleInWords(offer)} offers you a draw. A move declines it.</p>
          <button type="button" class="primary" disabled={isBusy} onClick={() => onPlay(DRAW)}>
            Accept the draw
          </button>
        </div>
      )}
      {choices.length > 0 && (
        <div class="claim">
          {choices.map(([one, label]) => (
            <button
              type="button"
              key={one}
              aria-pressed={addition === one}
              onClick={() => onChoose(addition === one ? null : one)}
            >
              {label}
            </button>
          ))}
          {choices.map(([one, , hint]) => addition === one && <span key={one}>{hint}</span>)}
        </div>
      )}
    </>
  );
}
