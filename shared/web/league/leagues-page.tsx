import { Fragment, type JSX } from "preact";
import type { LeagueSummary, LeaguesDocument } from "../documents/leagues.ts";
import { leagueFacts, Progress, ProjectorFoot, StatusBadge } from "../layout/league-layout.tsx";
import { PagesOfList } from "../layout/pages-of-list.tsx";
import { PlayerName } from "../layout/player-name.tsx";
import { isProjector, projectorAddress } from "../layout/projector.ts";
import { ProjectorStage } from "../layout/projector-stage.tsx";
import { SiteHeader } from "../layout/site-header.tsx";
import { leaguePath } from "../texts/league-paths.ts";
import type { PageProps } from "./page-props.ts";

/** The list of leagues. */
export function LeaguesPage({ document, problem }: PageProps<LeaguesDocument>): JSX.Element {
  const fault = (
    <p class="problem" role="status">
      {problem}
    </p>
  );
  if (isProjector()) {
    return (
      <main class="site leagues projector">
        <h1>Leagues</h1>
        {fault}
        <ProjectorStage>
          <LeagueList {...document} />
        </ProjectorStage>
        <ProjectorFoot path="/leagues" />
      </main>
    );
  }
  return (
    <div class="site">
      <SiteHeader part="leagues" isFirst projector={projectorAddress(true)} />
      <main class="leagues">
        <h1>Leagues</h1>
        {fault}
        <LeagueList {...document} />
        <PagesOfList {...document} />
      </main>
    </div>
  );
}

const LeagueList = ({ leagues }: Pick<LeaguesDocument, "leagues">): JSX.Element =>
  leagues.length === 0 ? (
    <p class="empty">No league is configured.</p>
  ) : (
    <ul class="league-list">
      {leagues.map((league) => (
        <LeagueCard key={league.league_id} league={league} />
      ))}
    </ul>
  );

function LeagueCard({ league }: { readonly league: LeagueSummary }): JSX.Element {
  const { leaders, status } = league;
  return (
    <li>
      <article class="box league-card">
        <h2>
          <a href={leaguePath(league) + (isProjector() ? "?projector" : "")}>
            <bdi>{league.league_id}</bdi>
          </a>
        </h2>
        <p class="league-facts">
          <StatusBadge status={status} /> {leagueFacts(league)}
        </p>
        {leaders.length > 0 && (
          <p class="leaders">
            {status === "completed" ? "Won by " : "Led by "}
            {leaders.map((player, index) => (
              <Fragment key={player.player_id}>
                {index > 0 && ", "}
                <PlayerName league={league} player={player} />
              </Fragment>
            ))}
          </p>
        )}
        <Progress league={league} />
      </article>
    </li>
  );
}
