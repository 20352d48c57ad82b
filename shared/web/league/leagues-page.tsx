import { Fragment, type JSX } from "preact";
import {
  isProjector,
  leagueFacts,
  type PageProps,
  PagesOfList,
  Progress,
  ProjectorFoot,
  ProjectorStage,
  projectorAddress,
  StatusBadge,
} from "#shared/web/layout/league-layout.tsx";
import { PlayerName } from "#shared/web/layout/player-name.tsx";
import { SiteHeader } from "#shared/web/layout/site-header.tsx";
import type { LeagueSummary, LeaguesDocument } from "#shared/web/league-documents.ts";
import { leaguePath } from "#shared/web/texts/league-texts.ts";

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
