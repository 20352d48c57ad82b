import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { GameFacts } from "../game-facts.ts";
import type { GameView } from "../game-view.ts";
import { endInWords } from "../texts/end-text.ts";
import { type GameRoom, messageOf } from "../transports/transport.ts";

interface EndPanelProps {
  readonly game: GameView;
  readonly role: string;
  readonly facts: GameFacts | undefined;
  readonly room: GameRoom | undefined;
}

/** The end of a game: who won, why, and what the person can do next. */
export function EndPanel({ game, role, facts, room }: EndPanelProps): JSX.Element {
  const end = endInWords(game, role, facts);
  return (
    <section class={`end ${end?.tone ?? "none"}`} aria-label="Result">
      <p class="status result">
        <strong>{end?.title ?? "The game is over"}</strong>
        {end && <span class="reason"> {end.reason}</span>}
      </p>
      {room && (
        <div class="end-actions">
          {room.hasToken && game.roles.includes(role) && <Rematch game={game} room={room} role={role} />}
          <a href="/">New game</a>
        </div>
      )}
    </section>
  );
}

/** The time between two requests for the rematch that the opponent may have started, and the maximum number of requests. */
const ASK_MS = 3_000;
const MAX_ASKED = 200;

/** Starts a rematch, or opens the one that the opponent has started. */
function Rematch({
  game,
  room,
  role,
}: Required<Pick<EndPanelProps, "game" | "role">> & { room: GameRoom }): JSX.Element {
  const [path, setPath] = useState<string | null>(null);
  const [problem, setProblem] = useState("");
  const [isBusy, setBusy] = useState(false);
  const hasFriend = game.roles.some((one) => one !== role && game.players[one]?.kind === "human");
  // Asks about one game
  useEffect(() => {
    if (!hasFriend) return;
    let asked = 0;
    const ask = (): void => {
      if (document.hidden) return;
      if (++asked > MAX_ASKED) clearInterval(timer);
      // The next question repeats a failed one.
      room.rematch(game).then(setPath, () => {});
    };
    const timer = setInterval(ask, ASK_MS);
    ask();
    return () => clearInterval(timer);
  }, [game.game_id, hasFriend]);
  const start = async (): Promise<void> => {
    setBusy(true);
    setProblem("");
    try {
      location.assign((await room.startRematch(game)) ?? "/");
    } catch (error) {
      setProblem(messageOf(error));
      setBusy(false);
    }
  };
  return (
    <>
      <button type="button" class="primary" disabled={isBusy} onClick={() => void start()}>
        {path === null ? "Rematch" : "Join the rematch"}
      </button>
      {path !== null && (
        <p class="notice" role="status">
          Your opponent wants a rematch.
        </p>
      )}
      {problem && (
        <p class="notice rejection" role="alert">
          {problem}
        </p>
      )}
    </>
  );
}
