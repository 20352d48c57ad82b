import type { JSX } from "preact";
import { DRAW } from "#shared/games/chess/terms.ts";
import type { Claim, GameFacts, GameView } from "#shared/web/game-view.ts";
import { roleInWords } from "#shared/web/texts/game-texts.ts";

/** What the person adds to the next move. */
export type Addition = Claim | "offer" | null;

interface Props {
  readonly game: GameView;
  readonly facts: GameFacts | undefined;
  readonly addition: Addition;
  readonly onChoose: (addition: Addition) => void;
}

interface OfferProps {
  readonly game: GameView;
  readonly isBusy: boolean;
  readonly onPlay: (action: unknown) => void;
}

/** Returns the role that has offered a draw; null for none, undefined in a game without offers. */
export const offerIn = ({ state }: GameView): string | null | undefined =>
  (state as { readonly draw_offer?: string | null } | null)?.draw_offer;

/** Returns an action with a draw offer. Only actions that are text, the moves of chess, can have one. */
export const withOffer = (action: unknown): unknown => (typeof action === "string" ? `${action} ${DRAW}` : action);

const IF_WRONG = "If the claim is wrong, the move is not made.";

const isDrawOffered = ({ legal_actions }: GameView): boolean => legal_actions.includes(DRAW);

/** The opponent's offer of a draw, with a button that accepts it. */
export function OfferedDraw({ game, isBusy, onPlay }: OfferProps): JSX.Element | null {
  const offer = offerIn(game);
  if (!offer || !isDrawOffered(game)) return null;
  return (
    <div class="offer" role="status">
      <p>{roleInWords(offer)} offers you a draw. A move declines it.</p>
      <button type="button" class="primary" disabled={isBusy} onClick={() => onPlay(DRAW)}>
        Accept the draw
      </button>
    </div>
  );
}

/** The buttons for an offer or a claim with the next move. */
export function NextMove({ game, facts, addition, onChoose }: Props): JSX.Element | null {
  const offer = offerIn(game);
  const choices: readonly (readonly [Addition, string, string])[] = [
    ...(offer !== undefined && !isDrawOffered(game)
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
  if (choices.length === 0) return null;
  return (
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
  );
}

/** Whether the page is in a frame of a chat, which is low and narrow, so that it has fewer buttons. */
export const isFramed = (): boolean => window.parent !== window;
