import type { FunctionComponent, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { BoardProps } from "#shared/web/boards/board-props.ts";
import { Board } from "#shared/web/boards/boards.tsx";
import { ChessPiece } from "#shared/web/boards/chess-piece.tsx";
import { type Color, materialInWords, materialOf } from "#shared/web/boards/chess-squares.ts";
import { type FactsOfGames, type GameFacts, type GameView, GUEST } from "#shared/web/game-view.ts";
import { ConfirmButton } from "#shared/web/layout/confirm-button.tsx";
import { GameClock, HowToPlay, useTurnStart } from "#shared/web/layout/game-parts.tsx";
import { MatchLinks } from "#shared/web/layout/site-header.tsx";
import { MoveList, PositionBoundary, StepBar } from "#shared/web/match/steps.tsx";
import {
  announcement,
  capitalized,
  endInWords,
  playerInWords,
  restartInWords,
  roleInWords,
  turnInWords,
} from "#shared/web/texts/game-texts.ts";
import { savedGames, seatPathOf } from "#shared/web/transports/saved-games.ts";
import { type GameRoom, messageOf, type Transport } from "#shared/web/transports/transport.ts";
import type { InvitationProps } from "./invitation.tsx";
import { type Addition, isFramed, NextMove, OfferedDraw, offerIn, withOffer } from "./next-move.tsx";
import { gameAt, type Playing, useGame, useHistory, useTurns } from "./use-game.ts";

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

interface PlayersProps {
  readonly game: GameView;
  readonly role: string;
  /** As in `GameClock`. */
  readonly turnStart: number | null;
  /** In chess the position in which the game began, as FEN. Then the captured pieces are shown. */
  readonly start: string | undefined;
}

/** The name of the game and its players, with their clocks and captured pieces. */
function Players({ game, role, turnStart, start }: PlayersProps): JSX.Element {
  const fen = (game.state as { readonly fen?: string } | null)?.fen;
  return (
    <header>
      <h1>{game.name}</h1>
      {game.match && (
        <p class="match-ref">
          <MatchLinks match={game.match} />
        </p>
      )}
      {game.restart && <p class="restart">{restartInWords(game.restart)}</p>}
      <ul class="players">
        {game.roles.map((name) => (
          <li key={name} class={game.to_act.includes(name) ? "acting" : ""}>
            <span class={`side side-${name}`} aria-hidden="true" />
            <strong>{roleInWords(name)}</strong> <PlayerName player={game.players[name]} isYou={name === role} />
            <GameClock game={game} role={name} turnStart={turnStart} />
            {start !== undefined && fen !== undefined && <Captured start={start} fen={fen} side={name as Color} />}
          </li>
        ))}
      </ul>
    </header>
  );
}

interface NameProps {
  readonly player: GameView["players"][string] | undefined;
  readonly isYou: boolean;
}

function PlayerName({ player, isYou }: NameProps): JSX.Element {
  const isUnnamed = isYou && player?.name === GUEST;
  return (
    <span>
      <bdi>{isUnnamed ? "you" : playerInWords(player)}</bdi>
      {isYou && !isUnnamed ? " (you)" : player?.kind === "bot" ? " (bot)" : ""}
    </span>
  );
}

interface CapturedProps {
  /** The position in which the game began, as FEN. */
  readonly start: string;
  readonly fen: string;
  readonly side: Color;
}

/** The pieces that a side has captured, and its lead. */
function Captured({ start, fen, side }: CapturedProps): JSX.Element | null {
  const material = materialOf(start, fen, side);
  const words = materialInWords(material);
  if (words === "") return null;
  return (
    <span class="captured" role="img" aria-label={words} title={words}>
      {material.captured.length > 0 && (
        <span class="pieces">
          {material.captured.map((piece, index) => (
            // The index is the key, because pieces of one kind do not differ.
            <ChessPiece key={index} {...piece} />
          ))}
        </span>
      )}
      {material.lead > 0 && <span class="lead">+{material.lead}</span>}
    </span>
  );
}

interface EndPanelProps {
  readonly game: GameView;
  readonly role: string;
  readonly facts: GameFacts | undefined;
  readonly room: GameRoom | undefined;
}

/** The end of a game: who won, why, and what the person can do next. */
function EndPanel({ game, role, facts, room }: EndPanelProps): JSX.Element {
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

interface SeatHelpProps {
  readonly game: GameView;
  readonly role: string;
}

/** A link to the person's seat, for a game that was opened without the link of the seat. Shown if this browser has saved the seat. */
function SeatHelp({ game, role }: SeatHelpProps): JSX.Element | null {
  const saved = role === "spectator" ? savedGames().find(({ gameId }) => gameId === game.game_id) : undefined;
  if (!saved) return null;
  return (
    <p class="notice">
      You play in this game. <a href={seatPathOf(saved)}>Open your seat</a>
    </p>
  );
}
