import type { JSX } from "preact";
import { escapeUnprintable } from "../../lib/text.ts";
import type { LeagueHeader } from "../documents/league.ts";
import type { FaultOfMatch } from "../documents/match.ts";
import { PlayerName } from "../layout/player-name.tsx";
import { visibleText } from "../texts/visible-text.ts";

interface FaultsProps {
  readonly league: LeagueHeader;
  readonly faults: readonly FaultOfMatch[];
}

/** Why players lost by forfeit, with the answers that they have sent. */
export function Faults({ league, faults }: FaultsProps): JSX.Element | null {
  if (faults.length === 0) return null;
  return (
    <section class="match-faults">
      <h2>Forfeit</h2>
      {faults.map((fault) => (
        <div key={fault.player_id}>
          <h3>
            <PlayerName league={league} player={fault} /> ({fault.role}): {fault.cause}
          </h3>
          <p dir="auto">{escapeUnprintable(fault.detail)}</p>
          {fault.raw !== null && (
            <>
              <p>The answer of the player, as the referee received it:</p>
              {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by the keyboard */}
              <pre tabIndex={0} role="region" aria-label="Answer of the player">
                {visibleText(fault.raw)}
              </pre>
            </>
          )}
        </div>
      ))}
    </section>
  );
}
