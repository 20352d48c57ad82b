import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { SiteHeader } from "../layout/site-header.tsx";
import type { JoinView } from "../league-view.ts";
import { type Invitation, pathOfSeat } from "../texts/links.ts";
import { visibleText } from "../texts/visible-text.ts";
import { joinLeague, openLeagues } from "../transports/league-api.ts";
import { messageOf } from "../transports/transport.ts";

interface JoinLeagueProps {
  /** Joins without the form, if the link of the page has a name and a token. */
  readonly invitation: Invitation | null;
}

/** The form with which a person enters a league. It then opens the page of the person's seat. */
export function JoinLeague({ invitation }: JoinLeagueProps): JSX.Element {
  const [view, setView] = useState<JoinView | null>(null);
  const [rejection, setRejection] = useState("");
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    const reject = (error: unknown): void => setRejection(messageOf(error));
    if (invitation) joinByLink(invitation).catch(reject);
    else openLeagues().then(setView, reject);
  }, [invitation]);
  const join = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget as HTMLFormElement);
    const entered = Object.fromEntries([...fields].filter(([, value]) => value !== ""));
    setBusy(true);
    setRejection("");
    try {
      location.assign(pathOfSeat(await joinLeague(entered, null)));
    } catch (error) {
      setRejection(messageOf(error));
      setBusy(false);
    }
  };
  return (
    <div class="site">
      <SiteHeader part="join" isFirst />
      <main class="join">
        <h1>Play in a league</h1>
        {view?.leagues.length === 0 && (
          <p>
            No league is open for new players. <a href="/leagues">Leagues</a>
          </p>
        )}
        {view && view.leagues.length > 0 && (
          <form onSubmit={(event) => void join(event)}>
            <label>
              Your name
              <input name="name" dir="auto" required maxLength={100} autocomplete="nickname" />
            </label>
            <LeagueChoice leagues={view.leagues} chosen={chosenLeague()} />
            {view.needs_join_code && (
              <label>
                Join code
                <input name="join_code" required autocomplete="off" />
              </label>
            )}
            <button type="submit" disabled={isBusy}>
              Join
            </button>
          </form>
        )}
        {rejection && (
          <p class="notice rejection" role="alert">
            {rejection}
          </p>
        )}
        <p class="hint">Your matches appear here when the league starts.</p>
      </main>
    </div>
  );
}

async function joinByLink({ name, token, joinCode }: Invitation): Promise<void> {
  const seat = await joinLeague({ name, ...(joinCode !== undefined && { join_code: joinCode }) }, token);
  location.replace(pathOfSeat(seat));
}

/** The league in the address of the page. */
const chosenLeague = (): string => new URLSearchParams(location.search).get("league") ?? "";

function LeagueChoice({ leagues, chosen }: Pick<JoinView, "leagues"> & { readonly chosen: string }): JSX.Element {
  const named = ({ league_id, game_name, players }: JoinView["leagues"][number]): string =>
    `${game_name} (${league_id}), ${players === 1 ? "1 player" : `${players} players`}`;
  const [only] = leagues;
  const isUnknown = chosen !== "" && leagues.every(({ league_id }) => league_id !== chosen);
  const unknown = isUnknown && <p class="hint">No league “{visibleText(chosen)}” takes players now.</p>;
  if (leagues.length === 1 && only) {
    return (
      <>
        {unknown}
        <p>
          <input type="hidden" name="league_id" value={only.league_id} />
          {named(only)}
        </p>
      </>
    );
  }
  return (
    <>
      {unknown}{" "}
      <label>
        League
        <select name="league_id">
          <option value="">All leagues</option>
          {leagues.map((league) => (
            <option key={league.league_id} value={league.league_id} selected={league.league_id === chosen}>
              {named(league)}
            </option>
          ))}
        </select>
      </label>
    </>
  );
}
