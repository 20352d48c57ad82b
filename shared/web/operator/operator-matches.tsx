import type { JSX } from "preact";
import { Fragment } from "preact";
import { useState } from "preact/hooks";
import { ConfirmButton } from "../play/confirm-button.tsx";
import { matchPath } from "../texts/league-paths.ts";
import { documentExists } from "../transports/operator-api.ts";
import { ActionBox, type ActionProps, InputFault, PlayerSelect } from "./operator-parts.tsx";

/** Annulling a match, and adding one: together they play a match again. */
export function MatchActions(props: ActionProps): JSX.Element {
  return (
    <>
      <AnnulMatch {...props} />
      <AddMatch {...props} />
    </>
  );
}

const MATCH_ID = /^R[1-9]\d*M[1-9]\d*$/;

function AnnulMatch({ document: { league }, isBusy, onCall }: ActionProps): JSX.Element {
  const [match, setMatch] = useState(() => new URLSearchParams(location.search).get("match") ?? "");
  const [reason, setReason] = useState("");
  const matchId = match.trim().toUpperCase();
  const [fault, setFault] = useState("");
  const isComplete = MATCH_ID.test(matchId) && reason.trim() !== "";
  const check = async (): Promise<boolean> => {
    const exists = await documentExists(`/api${matchPath(league, matchId)}`);
    setFault(exists ? "" : `There is no match ${matchId} in this league.`);
    return exists;
  };
  return (
    <ActionBox
      title="Annul a match"
      text="The match counts for no player, and its points are taken back. To play it again, add a match of the same players afterwards."
    >
      <label>
        Match, for example R2M1
        <input
          value={match}
          maxLength={20}
          autocomplete="off"
          onInput={({ currentTarget }) => {
            setMatch(currentTarget.value);
            setFault("");
          }}
        />
      </label>
      <label>
        Reason (public)
        <input value={reason} maxLength={300} onInput={({ currentTarget }) => setReason(currentTarget.value)} />
      </label>
      <InputFault text={fault} />
      <ConfirmButton
        key={isComplete ? matchId : ""}
        label={isComplete ? `Annul ${matchId}` : "Annul the match"}
        question={`Annul ${matchId}?`}
        warning="A match that is being played ends. The result of the match is lost. This cannot be undone."
        {...{ yes: "Annul", no: "Keep the result", isBusy: isBusy || !isComplete, check }}
        onConfirm={() => {
          setReason("");
          onCall("annul_match", { match_id: matchId, reason: reason.trim() }, `${matchId} is annulled.`);
        }}
      />
    </ActionBox>
  );
}

function AddMatch({ document, players, isBusy, onCall }: ActionProps): JSX.Element {
  const { league, roles } = document;
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const [round, setRound] = useState<number | null>(null);
  const roundId = round ?? league.round ?? league.rounds;
  const isComplete = roles.every((_, seat) => (chosen[seat] ?? "") !== "");
  const submit = (event: Event): void => {
    event.preventDefault();
    setChosen([]);
    onCall("schedule_match", { players: chosen, round_id: roundId }, `The match is added to round ${roundId}.`);
  };
  return (
    <ActionBox title="Add a match" text="Adds a match to the current round or a later one. It counts like all others.">
      <form onSubmit={submit}>
        {roles.map((role, seat) => (
          <Fragment key={role}>
            <PlayerSelect
              label={role[0]?.toUpperCase() + role.slice(1)}
              players={players}
              value={chosen[seat] ?? ""}
              onChange={(playerId) => setChosen(roles.map((_, one) => (one === seat ? playerId : (chosen[one] ?? ""))))}
            />
          </Fragment>
        ))}
        <label>
          Round
          <input
            type="number"
            min={1}
            max={league.rounds}
            step={1}
            value={roundId}
            onInput={({ currentTarget }) => setRound(currentTarget.valueAsNumber || null)}
          />
        </label>
        <button type="submit" disabled={isBusy || !isComplete}>
          Add the match
        </button>
      </form>
    </ActionBox>
  );
}
