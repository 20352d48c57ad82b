import type { FunctionComponent, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { BoardProps } from "../boards/board-props.ts";
import { Board } from "../boards/boards.tsx";
import type { Color } from "../boards/chess-squares.ts";
import type { FactsOfGames, GameFacts } from "../game-facts.ts";
import type { GameView } from "../game-view.ts";
import { useTurnStart } from "../layout/game-clock.tsx";
import { HowToPlay } from "../layout/how-to-play.tsx";
import { PositionBoundary } from "../match/position-boundary.tsx";
import { MoveList } from "../steps/move-list.tsx";
import { StepBar } from "../steps/step-bar.tsx";
import { announcement, capitalized, turnInWords } from "../texts/game-texts.ts";
import type { Transport } from "../transports/transport.ts";
import { ConfirmButton } from "./confirm-button.tsx";
import { EndPanel } from "./end-panel.tsx";
import type { InvitationProps } from "./invitation.tsx";
import { isFramed } from "./is-framed.ts";
import { type Addition, NextMove, OfferedDraw, offerIn, withOffer } from "./next-move.tsx";
import { Players } from "./players.tsx";
import { SeatHelp } from "./seat-help.tsx";
import { type Playing, useGame } from "./use-game.ts";
import { gameAt, useHistory, useTurns } from "./use-history.ts";

interface TableProps {
  readonly transport: Transport;
  readonly first: GameView | null;
  readonly games: FactsOfGames;
  /** Links and texts that invite the other players. Absent on boards that need no invitations, to keep them small. */
  readonly Invitation?: FunctionComponent<InvitationProps>;
}

/** A game as one person sees it: the players, the board, whose turn it is, the moves and the result. */
export function Table({ transport, first, games, Invitation }: TableProps): JSX.Element {
  const { game, problem, notice, pending, play, resign } = useGame(transport, first);
  const [addition, setAddition] = useState<Addition>(null);
  const [isFlipped, setFlipped] = useState(false);
  const history = useHistory(transport, game);
  const { turns, steps } = useTurns(history, game);
  const turnStart = useTurnStart(game);
  const { room } = transport;
  const role = game ? transport.roleIn(game) : "spectator";
  useEffect(() => {
    if (game) document.title = [turnInWords(game, role) || "Game over", game.name].join(" · ");
  }, [game, role]);
  if (!game) return <p class="loading">{problem ? <Problem text={problem} /> : "Loading the game…"}</p>;

  const facts = games[game.template];
  const shown = history ? gameAt(game, history, steps.step) : game;
  const isMine = game.status === "active" && game.your_role === role && game.to_act.includes(role);
  const canAct = isMine && pending === null && shown === game;
  const canResign = transport.resign !== undefined && game.status === "active" && game.roles.includes(role);
  const isChess = facts?.board === "chess";
  const start = isChess && history ? fenIn(history.start.state) : undefined;
  const onPlay = (action: unknown): void => {
    setAddition(null);
    if (addition === "offer") play(withOffer(action), null);
    else play(action, addition);
  };
  const controls = (
    <>
      {isChess && !isFramed() && (
        <button type="button" aria-pressed={isFlipped} onClick={() => setFlipped(!isFlipped)}>
          Flip the board
        </button>
      )}
      {canResign && (
        <ConfirmButton
          label="Resign"
          question="Resign the game?"
          yes="Yes, resign"
          no="No, continue"
          isBusy={pending !== null}
          onConfirm={resign}
        />
      )}
      {room && <a href="/">All games</a>}
    </>
  );
  return (
    <main class={room ? "table with-side" : "table"}>
      <div class="board-side">
        <Players game={shown} role={role} turnStart={shown === game ? turnStart : null} start={start} />
        <BoardArea
          game={shown}
          side={isFlipped ? flipped(role) : role}
          facts={facts}
          canAct={canAct}
          pending={pending}
          onPlay={onPlay}
          history={history}
        />
      </div>
      <div class="game-side">
        <div class="standing">
          {game.status === "completed" ? (
            <EndPanel game={game} role={role} facts={facts} room={room} />
          ) : (
            <Turn game={game} role={role} isSending={pending !== null} />
          )}
          {!room && controls}
        </div>
        {isMine && <OfferedDraw game={game} isBusy={!canAct} onPlay={(action) => play(action, null)} />}
        <Notices notice={notice} problem={problem} />
        {room && <SeatHelp game={game} role={role} />}
        {room && Invitation && <Invitation game={game} room={room} />}
        <MoveList steps={steps} turns={turns} roles={game.roles} isPaired={isChess} />
        <StepBar steps={steps} moves={turns[steps.step - 1]?.moves} />
        {isMine && <NextMove game={game} facts={facts} addition={addition} onChoose={setAddition} />}
        {room && <div class="standing">{controls}</div>}
        {room && <HowToPlay facts={facts} />}
      </div>
      <p class="unseen" aria-live="polite">
        {announcement(game, role, facts)}
      </p>
    </main>
  );
}

/** The message about the last move and the fault of the connection, if there are any. While the connection is lost, a move without an answer has no message besides it. */
function Notices({ notice, problem }: Pick<Playing, "notice" | "problem">): JSX.Element {
  return (
    <>
      {notice && !(notice.isUnanswered && problem) && (
        <p class={notice.isRejection ? "notice rejection" : "notice"} role={notice.isRejection ? "alert" : "status"}>
          {capitalized(notice.text)}
        </p>
      )}
      {problem && (
        <p class="notice" role="status">
          {problem}
        </p>
      )}
    </>
  );
}

const fenIn = (state: unknown): string => (state as { readonly fen: string }).fen;

/** The side from which a flipped board is seen. */
const flipped = (role: string): Color => (role === "black" ? "white" : "black");

interface BoardAreaProps extends BoardProps {
  readonly facts: GameFacts | undefined;
}

function BoardArea(props: BoardAreaProps): JSX.Element {
  const { game, canAct, pending } = props;
  const hasBoard = game.state !== null || game.board !== "";
  return (
    <div class={`board ${canAct ? "open" : ""}`} aria-busy={pending !== null}>
      {hasBoard && (
        <PositionBoundary position={game}>
          <Board {...props} />
        </PositionBoundary>
      )}
      {!hasBoard && game.status !== "completed" && <p>The board appears with your first turn.</p>}
    </div>
  );
}

interface TurnProps {
  readonly game: GameView;
  readonly role: string;
  readonly isSending: boolean;
}

function Turn({ game, role, isSending }: TurnProps): JSX.Element {
  const turn = isSending ? "Sending your move…" : turnInWords(game, role);
  const hasOffered = offerIn(game) === role;
  return (
    <p class={turn === "Your move" ? "status mine" : "status"}>
      {capitalized(turn)}
      {hasOffered && <span class="reason">You have offered a draw.</span>}
    </p>
  );
}

const Problem = ({ text }: { readonly text: string }): JSX.Element => (
  <span role="alert">
    {text} <a href="/">All games</a>
  </span>
);
