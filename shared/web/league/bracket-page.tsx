import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { isProjector, LeagueLayout, type PageProps } from "#shared/web/layout/league-layout.tsx";
import { PlayerName } from "#shared/web/layout/player-name.tsx";
import type {
  BracketDocument,
  BracketRoundView,
  BracketSlotView,
  BracketTieView,
  BracketTree,
  LeagueHeader,
} from "#shared/web/league-documents.ts";
import { leaguePath, matchPath } from "#shared/web/texts/league-texts.ts";
import { markInWords, markText } from "../texts/crosstable-cells.ts";
import { Winners } from "./winners.tsx";

/** The largest number of ties below each other that a projector shows at the same time: a double elimination of 16 players. */
const TIES_OF_STAGE = 13;

/** The bracket of an elimination: one tree, or those of winners and losers. A projector shows the trees of a large bracket in turn, each as a whole. */
export function BracketPage({ document, problem }: PageProps<BracketDocument>): JSX.Element {
  const { league, part, parts, winner } = document;
  const [turn, setTurn] = useState(0);
  const isInTurn = isProjector() && heightOf(document.trees) > TIES_OF_STAGE;
  const shown = turn % Math.max(1, document.trees.length);
  const trees = isInTurn ? document.trees.slice(shown, shown + 1) : document.trees;
  return (
    <LeagueLayout league={league} section="bracket" problem={problem} onShown={() => setTurn(turn + 1)}>
      {trees.length === 0 && <p>The bracket is drawn when the league starts.</p>}
      <div role="status">{winner.length > 0 && <Winners league={league} winners={winner} />}</div>
      <Parts league={league} part={part} parts={parts} />
      {trees.map((tree) => (
        <Tree key={tree.name} league={league} tree={tree} />
      ))}
    </LeagueLayout>
  );
}

/** The number of ties below each other. */
const heightOf = (trees: readonly BracketTree[]): number =>
  trees.reduce((sum, { rounds }) => sum + Math.max(...rounds.map(({ ties }) => ties.length)), 0);

/** The links to the parts of a large bracket. */
function Parts({ league, part, parts }: Pick<BracketDocument, "league" | "part" | "parts">): JSX.Element | null {
  if (parts === 0) return null;
  const path = leaguePath(league, "bracket");
  return (
    <nav class="pages bracket-parts" aria-label="Parts of the bracket">
      <a href={path} aria-current={part === 0 ? "page" : undefined}>
        Final rounds
      </a>
      {Array.from({ length: parts }, (_, index) => index + 1).map((number) => (
        <a key={number} href={`${path}?part=${number}`} aria-current={number === part ? "page" : undefined}>
          Part {number}
        </a>
      ))}
    </nav>
  );
}

interface TreeProps {
  readonly league: LeagueHeader;
  readonly tree: BracketTree;
}

function Tree({ league, tree: { name, rounds } }: TreeProps): JSX.Element {
  const Heading = name === "" ? "h2" : "h3";
  return (
    <section class="bracket">
      {name !== "" && <h2 class="bracket-name">{name}</h2>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <div class="bracket-scroll" role="region" tabIndex={0} aria-label={name === "" ? "Bracket" : `Bracket: ${name}`}>
        <div class="bracket-rounds">
          {rounds.map((round, index) => (
            <section key={round.label} class={`bracket-round ${joinOf(round, rounds[index + 1])}`}>
              {(round.label !== name || round.ties_shown !== "") && (
                <Heading class="bracket-label">
                  {round.label}
                  {round.ties_shown !== "" && <small> {round.ties_shown}</small>}
                </Heading>
              )}
              <ul>
                {round.ties.map((tie) => (
                  <Tie key={tie.id} league={league} tie={tie} />
                ))}
              </ul>
            </section>
          ))}
        </div>
      </div>
    </section>
  );
}

/** How the ties of a round are joined with those of the next one: two and two, or one by one. */
function joinOf({ ties }: BracketRoundView, next: BracketRoundView | undefined): string {
  if (next === undefined) return "";
  return next.ties.length === ties.length ? "joins-one" : "joins-two";
}

function Tie({ league, tie }: { readonly league: LeagueHeader; readonly tie: BracketTieView }): JSX.Element {
  const { state, note, slots } = tie;
  return (
    <li class={`tie is-${state}`}>
      <ul>
        {slots.map((slot, index) => (
          <Slot key={index} league={league} slot={slot} tie={tie} />
        ))}
      </ul>
      {note !== "" && note !== "bye" && <small>{note}</small>}
      {state === "playing" && <small class="tie-live">being played</small>}
    </li>
  );
}

/** The text of a slot to which no player comes, by the note of its tie. */
const EMPTY: Readonly<Record<string, string>> = { "not needed": "", bye: "Bye", "": "To be decided" };

interface SlotProps {
  readonly league: LeagueHeader;
  readonly slot: BracketSlotView;
  readonly tie: BracketTieView;
}

function Slot({ league, slot, tie: { note, match_ids, state } }: SlotProps): JSX.Element {
  const { players, seed, from, marks, points, is_winner } = slot;
  const isOut = state === "decided" && !is_winner;
  return (
    <li class={is_winner ? "slot is-winner" : isOut ? "slot is-out" : "slot"}>
      <span class="seed">{seed !== null && <span title={`Seed ${seed}`}>{seed}</span>}</span>
      <span class="slot-name">
        {players.length > 0 ? <Names league={league} players={players} /> : <i>{from === "" ? EMPTY[note] : from}</i>}
        {is_winner && <span class="unseen"> (advances)</span>}
      </span>
      {marks.map((mark, index) => (
        <a key={match_ids[index]} class="leg" href={matchPath(league, match_ids[index] ?? "")}>
          <span aria-hidden="true">{mark === "" ? "·" : markText(mark)}</span>
          <span class="unseen">
            match {index + 1} {mark === "" ? "without a result" : markInWords(mark)}
          </span>
        </a>
      ))}
      <b class="score">
        {points !== null && (
          <>
            {points}
            <span class="unseen"> points</span>
          </>
        )}
      </b>
    </li>
  );
}

/** The names of a player or of the members of a team. */
function Names({ league, players }: Pick<SlotProps, "league"> & Pick<BracketSlotView, "players">): JSX.Element {
  return (
    <>
      {players.map((player, index) => (
        <span key={player.player_id}>
          {index > 0 && " & "}
          <PlayerName league={league} player={player} />
        </span>
      ))}
    </>
  );
}
