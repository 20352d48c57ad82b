import type { Seat } from "../game-view.ts";
import { isGameView, type Transport } from "./transport.ts";

/**
 * A page inside somebody's frame that can only say what the person wants: the host calls our tool with it. A host that keeps the frame
 * may show the next state by `{type: "game", game}`; most will show a new page instead.
 */
export function embedTransport(seat: Seat | null): Transport {
  const post = (turn: object): void => {
    const payload = { ...turn, ...(seat && { seat_token: seat.token }) };
    // The frame's owner got this page, token and all, from our server; its origin is not known to us.
    window.parent.postMessage({ type: "action", action: "finishTurn", payload }, "*");
  };
  return {
    open(tell) {
      const hear = ({ source, data }: MessageEvent): void => {
        if (source === window.parent && data?.type === "game" && isGameView(data.game)) tell({ game: data.game });
      };
      addEventListener("message", hear);
      return () => removeEventListener("message", hear);
    },
    roleIn: ({ your_role }) => seat?.role ?? your_role,
    async play({ game_id }, move, claim) {
      post({ game_id, move, ...(claim && { claim }) });
      return "Your move was handed to the chat.";
    },
    async resign({ game_id }) {
      post({ game_id, resign: true });
      return "Your resignation was handed to the chat.";
    },
  };
}
