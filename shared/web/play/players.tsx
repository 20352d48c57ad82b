import type { JSX } from "preact";
import type { Color } from "../boards/chess-squares.ts";
import { type GameView, GUEST } from "../game-view.ts";
import { GameClock } from "../layout/game-clock.tsx";
import { MatchLinks } from "../layout/match-ref.tsx";
import { playerInWords, restartInWords, roleInWords } from "../texts/game-texts.ts";
import { Captured } from "./captured.tsx";

interface PlayersProps {
  readonly game: GameView;
  readonly role: string;
  /** As in `GameClock`. */
  readonly turnStart: number | null;
  /** In chess the position in which the game began, as FEN. Then the captured pieces are shown. */
  readonly start: string | undefined;
}

/** The name of the game and its players, with their clocks and captured pieces. */
export function Players({ game, role, turnStart, start }: PlayersProps): JSX.Element {
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
