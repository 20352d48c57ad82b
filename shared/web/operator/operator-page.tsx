import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { OperatorDocument } from "../documents/operator.ts";
import { LeagueLayout } from "../layout/league-layout.tsx";
import { visibleText } from "../texts/visible-text.ts";
import { callOperatorTool, type OperatorAnswer } from "../transports/operator-api.ts";
import { OperatorActions } from "./operator-actions.tsx";
import type { KnownPlayer } from "./operator-parts.tsx";

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
