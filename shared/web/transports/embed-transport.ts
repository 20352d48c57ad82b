import type { Seat } from "../game-view.ts";
import { isGameView, type Transport } from "./transport.ts";

/**
 * The transport of a page in a foreign frame. It can only post the person's action; the host calls the tool with it. A
 * host that keeps the frame may post the next state as `{type: "game", game}`. Most hosts show a new page instead.
 */
export function embedTransport(seat: Seat | null): Transport {
  const post = (turn: object): void => {
    const payload = { ...turn, ...(seat && { seat_token: seat.token }) };
    // The owner of the frame received this page with its token from the server. Its origin is unknown.
    window.parent.postMessage({ type: "action", action: "finishTurn", payload }, "*");
  };
  return {
    open(listener) {
      const onMessage = ({ source, data }: MessageEvent): void => {
        if (source === window.parent && data?.type === "game" && isGameView(data.game)) listener({ game: data.game });
      };
      addEventListener("message", onMessage);
      return () => removeEventListener("message", onMessage);
    },
    roleIn: ({ your_role }) => seat?.role ?? your_role,
    async play({ game_id }, move, claim) {
      post({ game_id, move, ...(claim && { claim }) });
      return "Your move was sent to the chat.";
    },
    async resign({ game_id }) {
      post({ game_id, resign: true });
      return "Your resignation was sent to the chat.";
    },
  };
}
