import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { spoken } from "../../games/game.ts";
import { boardOf } from "../boards/boards.ts";
import type { FactsOfGames, GameFacts } from "../game-facts.ts";
import type { GameView } from "../game-view.ts";
import { clockInWords } from "../texts/clock-text.ts";
import { announcement, resultInWords, turnInWords } from "../texts/game-texts.ts";
import type { Transport } from "../transports/transport.ts";
import { ConfirmButton } from "./confirm-button.tsx";
import { useGame } from "./use-game.ts";

interface Props {
  readonly transport: Transport;
  readonly first: GameView | null;
  readonly games: FactsOfGames;
}

/** A game as one person sees it: the players, the board, whose turn it is, and the result. */
export function Table({ transport, first, games }: Props): JSX.Element {
  const { game, problem, notice, pending, play, resign } = useGame(transport, first);
  const [isClaiming, setClaiming] = useState(false);
  const role = game ? transport.roleIn(game) : "spectator";
  useEffect(() => {
    if (game) document.title = [turnInWords(game, role) || "Game over", game.name].join(" · ");
  }, [game, role]);
  if (!game) return <p class="loading">{problem ?? "Loading the game…"}</p>;

  const isMine = game.status === "active" && role === game.your_role && game.to_act.includes(role);
  const canAct = isMine && pending === null;
  const canResign = transport.resign !== undefined && game.status === "active" && game.roles.includes(role);
  const hasBoard = game.state !== null || game.board !== "";
  const facts = games[game.template];
  const Board = boardOf(facts);
  const onPlay = (action: unknown): void => {
    setClaiming(false);
    play(action, (isClaiming && facts?.winningReason) || null);
  };
  return (
    <main class="table">
      <Players game={game} role={role} />
      <div class={`board ${canAct ? "open" : ""}`} aria-busy={pending !== null}>
        {hasBoard && <Board game={game} side={role} canAct={canAct} pending={pending} onPlay={onPlay} />}
        {!hasBoard && game.status !== "completed" && <p>The board appears with your first turn.</p>}
      </div>
      <div class="standing">
        <Status game={game} role={role} facts={facts} isSending={pending !== null} />
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
      </div>
      {isMine && facts?.winningReason && (
        <ClaimButton claim={facts.winningReason} isOn={isClaiming} onToggle={setClaiming} />
      )}
      {notice && (
        <p class={notice.isRejection ? "notice rejection" : "notice"} role={notice.isRejection ? "alert" : "status"}>
          {notice.text}
        </p>
      )}
      {problem && (
        <p class="notice" role="status">
          {problem}
        </p>
      )}
      <p class="unseen" aria-live="polite">
        {announcement(game, role, facts)}
      </p>
    </main>
  );
}

function Players({ game, role }: { readonly game: GameView; readonly role: string }): JSX.Element {
  return (
    <header>
      <h1>{game.name}</h1>
      <ul class="players">
        {game.roles.map((name) => (
          <li key={name} class={game.to_act.includes(name) ? "acting" : ""}>
            <span class={`side side-${name}`} aria-hidden="true" />
            <strong>{spoken(name)}</strong> <PlayerName player={game.players[name]} isYou={name === role} />
            <ClockOf role={name} clock={game.clock} />
          </li>
        ))}
      </ul>
    </header>
  );
}

interface ClockProps {
  readonly role: string;
  readonly clock: GameView["clock"];
}

/** The time of a role at the start of the open turn. */
function ClockOf({ role, clock }: ClockProps): JSX.Element | null {
  const leftMs = clock?.remaining_ms[role];
  return leftMs === undefined ? null : <span class="clock">{` ${clockInWords(leftMs)}`}</span>;
}

interface NameProps {
  readonly player: GameView["players"][string] | undefined;
  readonly isYou: boolean;
}

function PlayerName({ player, isYou }: NameProps): JSX.Element {
  return (
    <span>
      {player?.name ?? "not joined yet"}
      {isYou ? " (you)" : player?.kind === "bot" ? " (bot)" : ""}
    </span>
  );
}

interface StatusProps {
  readonly game: GameView;
  readonly role: string;
  readonly facts: GameFacts | undefined;
  readonly isSending: boolean;
}

function Status({ game, role, facts, isSending }: StatusProps): JSX.Element {
  const result = resultInWords(game, facts);
  if (game.status === "completed") return <p class="status result">{result || "The game is over"}</p>;
  const turn = isSending ? "Sending your move…" : turnInWords(game, role);
  return <p class={turn === "Your move" ? "status mine" : "status"}>{turn}</p>;
}

interface ClaimProps {
  readonly claim: string;
  readonly isOn: boolean;
  readonly onToggle: (isOn: boolean) => void;
}

/** A claim of a mate is made together with the move. If the claim is wrong, the move is rejected as well. */
function ClaimButton({ claim, isOn, onToggle }: ClaimProps): JSX.Element {
  return (
    <div class="claim">
      <button type="button" aria-pressed={isOn} onClick={() => onToggle(!isOn)}>
        Move &amp; claim {claim}
      </button>
      {isOn && <span>Your next move will claim {claim}.</span>}
    </div>
  );
}
