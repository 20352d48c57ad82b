import { type ComponentChildren, Fragment, type JSX } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { counted } from "#shared/lib/text.ts";
import { ConfirmButton } from "#shared/web/layout/confirm-button.tsx";
import { LeagueLayout } from "#shared/web/layout/league-layout.tsx";
import type { OperatorDocument } from "#shared/web/league-documents.ts";
import { matchPath, visibleText } from "#shared/web/texts/league-texts.ts";
import { callOperatorTool, documentExists, type OperatorAnswer } from "#shared/web/transports/operator-api.ts";

/** What the manager tells the operator: the players of the league, and those of other leagues that can be added. */
interface Status {
  readonly players: readonly KnownPlayer[];
  readonly others: readonly KnownPlayer[];
}

interface Notice {
  readonly text: ComponentChildren;
  readonly isError: boolean;
  /** Whether the manager did not answer. The notice is then the only message about the connection. */
  readonly isUnanswered: boolean;
}

interface OperatorPageProps {
  readonly document: OperatorDocument;
  /** The fault of the connection, or "". */
  readonly problem: string;
}

/** The page of the operator. The token is typed for each visit and is kept in memory only. */
export function OperatorPage({ document, problem }: OperatorPageProps): JSX.Element {
  const { league } = document;
  const [token, setToken] = useState<string | null>(null);
  const [notice, setNotice] = useState<Notice | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [status, setStatus] = useState<Status>({ players: [], others: [] });

  /** Shows the answer to an action. A wrong token is forgotten. */
  const show = (answer: OperatorAnswer, done: ComponentChildren): void => {
    setNotice({
      text: answer.ok ? done : visibleText(answer.message),
      isError: !answer.ok,
      isUnanswered: !answer.ok && answer.isUnanswered,
    });
    if (!answer.ok && answer.isTokenWrong) setToken(null);
  };
  const call = async (tool: string, args: object, done: ComponentChildren): Promise<void> => {
    if (token === null) return;
    setBusy(true);
    show(await callOperatorTool(token, tool, { league_id: league.league_id, ...args }), done);
    setBusy(false);
  };
  const unlock = async (typed: string): Promise<void> => {
    setBusy(true);
    const answer = await callOperatorTool(typed, "league_status", {});
    show(answer, "The token is accepted. It is forgotten when you leave or reload this page.");
    if (answer.ok) {
      setStatus(statusOf(answer.value, league.league_id));
      setToken(typed);
    }
    setBusy(false);
  };
  const lock = (): void => {
    setToken(null);
    setNotice(null);
  };
  // A browser may keep the memory of a page that was left, for its back button.
  useEffect(() => {
    addEventListener("pagehide", lock);
    return () => removeEventListener("pagehide", lock);
  }, []);
  const state = `${league.status}/${league.players}/${league.round}`;
  useEffect(() => {
    if (token === null) return;
    void callOperatorTool(token, "league_status", {}).then((answer) => {
      if (answer.ok) setStatus(statusOf(answer.value, league.league_id));
    });
  }, [token, state]);

  return (
    <LeagueLayout league={league} section={null} problem={notice?.isUnanswered ? "" : problem}>
      <div class="operator-page">
        <h2>Operator</h2>
        <p class={notice?.isError ? "operator-notice error" : "operator-notice"} role="status">
          {notice?.text}
        </p>
        {token === null ? (
          <TokenForm isBusy={isBusy} onToken={unlock} />
        ) : (
          <>
            <OperatorActions document={document} {...status} isBusy={isBusy} onCall={call} />
            <button type="button" class="operator-lock" onClick={lock}>
              Forget the token
            </button>
          </>
        )}
      </div>
    </LeagueLayout>
  );
}

interface TokenFormProps {
  readonly isBusy: boolean;
  readonly onToken: (token: string) => void;
}

/** Asks for the token. The field has no name and no form target, so that the browser neither sends nor keeps its content. */
function TokenForm({ isBusy, onToken }: TokenFormProps): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  const submit = (event: Event): void => {
    event.preventDefault();
    const input = field.current;
    const typed = input?.value.trim() ?? "";
    if (input) input.value = "";
    if (typed !== "") onToken(typed);
  };
  return (
    <form class="box operator-token" autocomplete="off" onSubmit={submit}>
      <label>
        Operator token
        <input ref={field} type="password" autocomplete="off" spellcheck={false} required />
      </label>
      <p>
        It is in the file <code>operator-token</code> of the data folder of the manager. This page keeps it in memory
        only, and asks again after a reload.
      </p>
      <button type="submit" class="primary" disabled={isBusy}>
        Continue
      </button>
    </form>
  );
}

/** Returns the players in an answer of `league_status`. */
function statusOf(value: Readonly<Record<string, unknown>>, leagueId: string): Status {
  const leagues = (value.leagues ?? []) as readonly { league_id: string; players: readonly KnownPlayer[] }[];
  const players = leagues.find(({ league_id }) => league_id === leagueId)?.players ?? [];
  const own = new Set(players.map(({ player_id }) => player_id));
  const others = new Map(
    leagues
      .flatMap((league) => league.players)
      .filter(({ player_id }) => !own.has(player_id))
      .map((player) => [player.player_id, player]),
  );
  return { players, others: [...others.values()] };
}

interface OperatorActionsProps extends ActionProps {
  /** Players of other leagues, which can be added. */
  readonly others: readonly KnownPlayer[];
}

/** The actions that the state of the league allows. */
function OperatorActions({ others, ...props }: OperatorActionsProps): JSX.Element {
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

/** Annulling a match, and adding one: together they play a match again. */
function MatchActions(props: ActionProps): JSX.Element {
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

interface ExtendProps extends Pick<ActionProps, "isBusy" | "onCall"> {
  readonly option: OperatorDocument["extendable"][number];
  /** The number of matches of the league so far; null if it has no fixed end. */
  readonly matches: number | null;
}

/** Raises an option of the format. The field keeps what is typed; the number is checked when the button is pressed. */
function Extend({ option: { option, text, value, matches_each }, matches, isBusy, onCall }: ExtendProps): JSX.Element {
  const [typed, setTyped] = useState<string | null>(null);
  const [fault, setFault] = useState("");
  const shown = typed ?? String(value + 1);
  const next = Number(shown);
  const check = (): boolean => {
    const isValid = Number.isSafeInteger(next) && next > value;
    setFault(isValid ? "" : `The number of ${text} must be a whole number of at least ${value + 1}.`);
    return isValid;
  };
  const total = matches === null || matches_each === null ? null : Math.round(matches + (next - value) * matches_each);
  return (
    <ActionBox title="Extend" text={`The number of ${text} is ${value}. It can be raised, but not lowered.`}>
      <label>
        New number of {text}
        <input
          type="number"
          min={value + 1}
          step={1}
          value={shown}
          onInput={({ currentTarget }) => {
            setTyped(currentTarget.value);
            setFault("");
          }}
        />
      </label>
      <InputFault text={fault} />
      <ConfirmButton
        key={`${value}/${shown}`}
        label="Extend the league"
        question={`Extend to ${shown} ${text}${total === null ? "" : ` (${counted(total, "match", "matches")})`}?`}
        warning="This cannot be undone."
        {...{ yes: "Extend", no: "Keep the number", isBusy, check }}
        onConfirm={() => {
          setTyped(null);
          onCall("extend_league", { format_options: { [option]: next } }, `The number of ${text} is now ${next}.`);
        }}
      />
    </ActionBox>
  );
}

/** A player as the operator sees it. */
interface KnownPlayer {
  readonly player_id: string;
  readonly display_name: string;
}

interface ActionProps {
  readonly document: OperatorDocument;
  readonly players: readonly KnownPlayer[];
  readonly isBusy: boolean;
  /** Calls a tool for the league. `done` is shown after success. */
  readonly onCall: (tool: string, args: object, done: ComponentChildren) => void;
}

interface ActionBoxProps {
  readonly title: string;
  readonly text: string;
  readonly children: ComponentChildren;
}

/** One action with its consequences. */
function ActionBox({ title, text, children }: ActionBoxProps): JSX.Element {
  const id = useId();
  return (
    <section class="box operator-action" aria-labelledby={id}>
      <h3 id={id}>{title}</h3>
      <p>{text}</p>
      {children}
    </section>
  );
}

/** What is wrong with the input of an action; empty if nothing is. */
const InputFault = ({ text }: { readonly text: string }): JSX.Element => (
  <p class="input-fault" role="alert">
    {text}
  </p>
);

interface SelectProps {
  readonly label: string;
  readonly players: readonly KnownPlayer[];
  readonly value: string;
  readonly onChange: (playerId: string) => void;
}

function PlayerSelect({ label, players, value, onChange }: SelectProps): JSX.Element {
  return (
    <label>
      {label}
      <select value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        <option value="">Choose a player</option>
        {players.map(({ player_id, display_name }) => (
          <option key={player_id} value={player_id} dir="auto">
            {display_name} ({player_id})
          </option>
        ))}
      </select>
    </label>
  );
}

/** The name of a player in a sentence. */
const Name = ({ text }: { readonly text: string }): JSX.Element => <bdi>{visibleText(text)}</bdi>;
