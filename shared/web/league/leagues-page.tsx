import type { JSX } from "preact";
import type { LeagueSummary, LeaguesDocument } from "../documents/leagues.ts";
import { PagesOfList } from "../layout/pages-of-list.tsx";
import { SiteHeader } from "../layout/site-header.tsx";
import { leaguePath } from "../texts/league-paths.ts";
import type { PageProps } from "./page-props.ts";

/** The list of leagues. */
export function LeaguesPage({ document, problem }: PageProps<LeaguesDocument>): JSX.Element {
  const { leagues } = document;
  return (
    <div class="site">
      <SiteHeader part="leagues" isFirst />
      <main class="leagues">
        <h1>Leagues</h1>
        <p class="problem" role="status">
          {problem}
        </p>
        {leagues.length === 0 && <p>The config of this manager has no league.</p>}
        <ul class="league-list">
          {leagues.map((league) => (
            <LeagueItem key={league.league_id} league={league} />
          ))}
        </ul>
        <PagesOfList {...document} />
      </main>
    </div>
  );
}

function LeagueItem({ league }: { readonly league: LeagueSummary }): JSX.Element {
  const { league_id, game_name, format, status, players, completed, matches, leaders } = league;
  return (
    <li>
      <a href={leaguePath(league)}>
        <bdi>{league_id}</bdi>
      </a>{" "}
      {[game_name, format, `${players} players`, status].filter((text) => text !== "").join(" · ")}
      {status !== "open" && ` · ${completed}${matches === null ? "" : ` of ${matches}`} matches`}
      {leaders.map(({ player_id, name }) => (
        <span key={player_id}>
          {" "}
          <bdi>{name}</bdi>
        </span>
      ))}
    </li>
  );
}
