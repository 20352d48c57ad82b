import type { JSX } from "preact";
import { useId, useState } from "preact/hooks";
import { ConfirmButton } from "../play/confirm-button.tsx";
import { Extend } from "./operator-extend.tsx";
import { MatchActions } from "./operator-matches.tsx";
import { ActionBox, type ActionProps, type KnownPlayer, Name, PlayerSelect } from "./operator-parts.tsx";

interface OperatorActionsProps extends ActionProps {
  /** Players of other leagues, which can be added. */
  readonly others: readonly KnownPlayer[];
}

/** The actions that the state of the league allows. */
export function OperatorActions({ others, ...props }: OperatorActionsProps): JSX.Element {
  const { can } = props.document;
  return (
    <div class="operator-actions">
      <CourseActions {...props} />
      {can.add_player && <AddPlayer {...props} others={others} />}
      {can.remove_player && props.players.length > 0 && <RemovePlayer {...props} />}
      {can.change_matches && <MatchActions {...props} />}
      {props.document.league.status === "completed" && (
        <p class="empty">The league is completed. Its results cannot be changed.</p>
      )}
    </div>
  );
}

/** Start, pause, resume, extend and end. */
function CourseActions({ document, isBusy, onCall }: ActionProps): JSX.Element {
  const { can, extendable, league } = document;
  return (
    <>
      {can.start && (
        <ActionBox
          title="Start"
          text="Closes the registration and plays the league with the players that are registered."
        >
          <ConfirmButton
            label="Start the league"
            question={`Start with ${league.players === 1 ? "1 player" : `${league.players} players`}?`}
            warning="Players that register later are not paired, unless the config of the league permits late entries."
            {...{ yes: "Start now", no: "Not yet", isBusy }}
            onConfirm={() => onCall("start_league", {}, "The league has started.")}
          />
        </ActionBox>
      )}
      {can.pause && (
        <ActionBox title="Pause" text="No further match begins. Matches that have begun are played to their end.">
          <button type="button" disabled={isBusy} onClick={() => onCall("pause_league", {}, "The league is paused.")}>
            Pause the league
          </button>
        </ActionBox>
      )}
      {can.resume && (
        <ActionBox
          title="Resume"
          text="No match begins until you resume the league. Matches that have begun are played to their end."
        >
          <button type="button" disabled={isBusy} onClick={() => onCall("resume_league", {}, "The league continues.")}>
            Resume the league
          </button>
        </ActionBox>
      )}
      {extendable.map((option) => (
        <Extend key={option.option} option={option} matches={league.matches} isBusy={isBusy} onCall={onCall} />
      ))}
      {can.end && (
        <ActionBox title="End" text="Ends the league with the standings so far.">
          <ConfirmButton
            label="End the league"
            question="End the league now?"
            warning="Matches that are not completed are cancelled and count for no player. This cannot be undone."
            {...{ yes: "End now", no: "Keep playing", isBusy }}
            onConfirm={() => onCall("end_league", {}, "The league has ended.")}
          />
        </ActionBox>
      )}
    </>
  );
}

function AddPlayer({ others, isBusy, onCall }: OperatorActionsProps): JSX.Element {
  const [chosen, setChosen] = useState("");
  const list = useId();
  const submit = (event: Event): void => {
    event.preventDefault();
    const named = others.filter(({ display_name }) => display_name === chosen.trim());
    const player_id = named.length === 1 && named[0] ? named[0].player_id : chosen.trim();
    setChosen("");
    onCall(
      "add_player",
      { player_id },
      <>
        <Name text={chosen.trim()} /> plays in the league.
      </>,
    );
  };
  return (
    <ActionBox
      title="Add a player"
      text="Enters a registered player into this league, also after its start. A player that is not registered joins with the command on the page of the league."
    >
      <form onSubmit={submit}>
        <label>
          Id of a registered player, or the name of a player of another league
          <input
            dir="auto"
            value={chosen}
            list={list}
            maxLength={200}
            required
            autocomplete="off"
            onInput={({ currentTarget }) => setChosen(currentTarget.value)}
          />
        </label>
        <datalist id={list}>
          {others.map(({ player_id, display_name }) => (
            <option key={player_id} value={player_id} dir="auto">
              {display_name}
            </option>
          ))}
        </datalist>
        <button type="submit" disabled={isBusy}>
          Add the player
        </button>
      </form>
    </ActionBox>
  );
}

function RemovePlayer({ document, players, isBusy, onCall }: ActionProps): JSX.Element {
  const [chosen, setChosen] = useState("");
  const player = players.find(({ player_id }) => player_id === chosen);
  const consequence =
    document.league.status === "open"
      ? "The player leaves all open leagues of this manager. It may register again."
      : "The player leaves all leagues of this manager. A round that has begun is played to its end; later matches of the player are forfeited, or it is paired no more. This cannot be undone.";
  return (
    <ActionBox title="Remove a player" text="Takes a player out of all leagues of this manager.">
      <PlayerSelect label="Player" players={players} value={chosen} onChange={setChosen} />
      {player && (
        <ConfirmButton
          key={player.player_id}
          label="Remove the player"
          question={
            <>
              Remove <Name text={player.display_name} /> ({player.player_id})?
            </>
          }
          warning={consequence}
          {...{ yes: "Remove", no: "Keep", isBusy }}
          onConfirm={() => {
            setChosen("");
            onCall(
              "remove_player",
              { player_id: player.player_id },
              <>
                <Name text={player.display_name} /> is removed.
              </>,
            );
          }}
        />
      )}
    </ActionBox>
  );
}
