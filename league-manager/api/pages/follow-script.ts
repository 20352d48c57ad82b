import type { LeagueEvent } from "../../league/events.ts";

/** The types of events that change the page. `round_paired` is omitted, because it is committed together with `started`. */
const FOLLOWED_TYPES = [
  "reconfigured",
  "player_entered",
  "player_left",
  "started",
  "round_opened",
  "match_scheduled",
  "match_assigned",
  "match_released",
  "match_completed",
  "match_aborted",
  "completed",
] as const satisfies readonly LeagueEvent["type"][];

/**
 * Keeps the manager's page up to date: follows the events of each league from the version that the page shows, and loads the page's content again
 * when there are newer events. Browsers allow six connections to one server, so a page of many leagues is loaded every five seconds instead.
 *
 * A browser does not reconnect an EventSource after a status other than 200. The page then loads its content again and follows from the version
 * shown there. `BETWEEN_LOADS_MS` keeps a page within the manager's rate limit for remote callers.
 *
 * A stream also ends with its league, so the page reports a lost connection only after the browser has failed to reconnect.
 */
export const FOLLOW_SCRIPT = `
const FOLLOWED = 3;
const RETRY_MS = 5000;
const BETWEEN_LOADS_MS = 2000;
const TYPES = ${JSON.stringify(FOLLOWED_TYPES)};
const sections = () => [...document.querySelectorAll("section[data-league]")].filter((section) => section.dataset.status !== "completed");
/** The version of a league that the page shows; NaN if it does not show the league or shows it as completed. */
const shown = (id) => Number(sections().find((section) => section.dataset.league === id)?.dataset.version);
const showLost = (isLost) => { document.querySelector("#connection").hidden = !isLost; };
const sources = new Map();
let timer = null;
let loadedAt = -Infinity;
const loadIn = (ms) => { timer ??= setTimeout(load, Math.max(ms, loadedAt + BETWEEN_LOADS_MS - performance.now())); };
const load = async () => {
  timer = null;
  loadedAt = performance.now();
  try {
    const response = await fetch(location.href);
    if (!response.ok) throw new Error(String(response.status));
    const next = new DOMParser().parseFromString(await response.text(), "text/html").querySelector("main");
    if (!next) throw new Error("not a page of a league manager");
    document.querySelector("main").replaceWith(next);
    showLost(false);
    followAll();
  } catch {
    showLost(true);
    loadIn(RETRY_MS);
  }
};
const stop = (league) => {
  sources.get(league)?.close();
  sources.delete(league);
};
const follow = ({ dataset: { league, version } }) => {
  const source = new EventSource("/leagues/" + encodeURIComponent(league) + "/events?from=" + version + "&types=" + TYPES);
  sources.set(league, source);
  let failures = 0;
  const changed = (event) => {
    if (Number(event.lastEventId) > shown(league)) loadIn(500);
  };
  for (const type of TYPES) source.addEventListener(type, changed);
  source.addEventListener("open", () => {
    failures = 0;
    showLost(false);
  });
  source.addEventListener("error", () => {
    failures++;
    if (source.readyState !== EventSource.CLOSED) return showLost(failures > 1);
    if (sources.get(league) === source) sources.delete(league);
    loadIn(RETRY_MS);
  });
};
const followAll = () => {
  const shownSections = sections();
  const isFollowing = shownSections.length <= FOLLOWED;
  for (const league of sources.keys()) if (!isFollowing || Number.isNaN(shown(league))) stop(league);
  if (!isFollowing) loadIn(RETRY_MS);
  else for (const section of shownSections) if (!sources.has(section.dataset.league)) follow(section);
};
followAll();
`;
