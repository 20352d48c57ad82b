import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { type GameView, GUEST } from "../game-view.ts";
import { capitalized } from "../texts/game-texts.ts";
import { savedName, saveName } from "../transports/saved-name.ts";
import { type GameRoom, messageOf } from "../transports/transport.ts";

interface Props {
  readonly game: GameView;
  readonly room: GameRoom;
}

/** The field in which a person without a name enters one. A person who follows an invitation has not been asked before. */
export function NameForm({ game, room }: Props): JSX.Element | null {
  const [problem, setProblem] = useState("");
  const [isBusy, setBusy] = useState(false);
  const player = game.players[game.your_role];
  if (!room.hasToken || player?.kind !== "human" || player.name !== GUEST || game.status === "completed") return null;
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget as HTMLFormElement).get("name")).trim();
    if (name === "") return;
    setBusy(true);
    setProblem("");
    try {
      await room.setName(game, name);
      saveName(name);
    } catch (error) {
      setProblem(messageOf(error));
    }
    setBusy(false);
  };
  return (
    <form class="name-form" aria-label="Your name" onSubmit={(event) => void submit(event)}>
      <label>
        Your name
        <input name="name" dir="auto" maxLength={60} required autocomplete="nickname" defaultValue={savedName()} />
      </label>
      <button type="submit" disabled={isBusy}>
        Show my name
      </button>
      {problem && (
        <p class="notice rejection" role="alert">
          {capitalized(problem)}
        </p>
      )}
    </form>
  );
}
