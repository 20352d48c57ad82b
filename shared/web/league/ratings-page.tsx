import type { JSX } from "preact";
import { LeagueLayout, type PageProps, PagesOfList } from "#shared/web/layout/league-layout.tsx";
import { PlayerName } from "#shared/web/layout/player-name.tsx";
import type { RatingRowView, RatingsDocumentPage } from "#shared/web/league-documents.ts";
import { intervalDrawing, likelihoodText, type Scale } from "../rating-interval.ts";

/** The ratings of a league with their intervals. */
export function RatingsPage({ document, problem }: PageProps<RatingsDocumentPage>): JSX.Element {
  const { league, matches, limit } = document;
  return (
    <LeagueLayout league={league} section="ratings" problem={problem}>
      {limit !== null ? (
        <p class="ratings-note">
          The pages of leagues with more than {limit} players show no ratings, because computing them would delay
          matches. The operator can compute them with <code>npm run league -- ratings DATA</code>, where DATA is the
          data folder of the manager.
        </p>
      ) : matches === 0 ? (
        <p>No match is rated yet. Aborted matches and matches that all players forfeit are not rated.</p>
      ) : (
        <>
          <p class="ratings-note">{modelText(document)}</p>
          <RatingsTable document={document} />
          <PagesOfList {...document} />
        </>
      )}
    </LeagueLayout>
  );
}

/** The model and the scale in a sentence or two. */
function modelText({ model, matches }: RatingsDocumentPage): string {
  const source = `from ${matches} rated ${matches === 1 ? "match" : "matches"}, around an average of 1500`;
  const note = "The rating of a player lies in its interval with a probability of 95%.";
  if (model === "openskill") return `Ratings of the members of teams by OpenSkill on the Elo scale, ${source}. ${note}`;
  return `Ratings on the Elo scale by the Bradley-Terry model, ${source}. A player rated 100 higher is expected to score 64%. ${note}`;
}

function RatingsTable({ document }: { readonly document: RatingsDocumentPage }): JSX.Element {
  const { league, rows, first } = document;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section class="wide" tabIndex={0} aria-label="Ratings">
      <table class="data ratings">
        <thead>
          <tr>
            <th scope="col" class="n">
              #
            </th>
            <th scope="col">Player</th>
            <th scope="col" class="n">
              Rating <small>± 95%</small>
            </th>
            <th scope="col">Interval</th>
            <th scope="col">Stronger than the next</th>
            <th scope="col" class="n">
              Matches
            </th>
            <th scope="col" class="n">
              Score
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={row.player_id}>
              <td class="n">{first + index}</td>
              <th scope="row">
                <PlayerName league={league} player={row} />
              </th>
              <td class="n">
                {row.matches > 0 && (
                  <>
                    <b>{Math.round(row.rating)}</b> <small>± {Math.round(row.error)}</small>
                  </>
                )}
              </td>
              <td>{row.matches === 0 ? "no match yet" : <Interval row={row} scale={document} />}</td>
              <td class="ratings-next">
                <Next next={row.next} />
              </td>
              <td class="n">{row.matches}</td>
              <td class="n">{row.percent === null ? "" : `${row.percent.toFixed(1)}%`}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Interval({ row, scale }: { readonly row: RatingRowView; readonly scale: Scale }): JSX.Element {
  const { average, interval, rating, text } = intervalDrawing(row, scale);
  return (
    <svg class="interval" viewBox="0 0 200 20" role="img" aria-label={text}>
      <path class="scale" d={average} />
      <path class="error" d={interval} />
      <circle cx={rating} cy="10" r="4" />
    </svg>
  );
}

function Next({ next }: Pick<RatingRowView, "next">): JSX.Element | null {
  if (next === null) return null;
  return next.is_significant ? (
    <>
      <b>yes</b> <small>{likelihoodText(next.likelihood)}</small>
    </>
  ) : (
    <>
      <span class="undecided">not decided yet</span> <small>{likelihoodText(next.likelihood)}</small>
    </>
  );
}
