/**
 * Keeps the manager's page up to date: follows the events of each league from the version that the page shows, and loads the page's content
 * again when there are newer ones. Browsers allow six connections to one server, so a page of many leagues asks every five seconds instead.
 */
export const FOLLOW_SCRIPT = `
const FOLLOWED = 3;
const sections = () => [...document.querySelectorAll("section[data-league]")].filter((one) => one.dataset.status !== "completed");
const shown = (id) => Number(document.querySelector('section[data-league="' + CSS.escape(id) + '"]').dataset.version);
let timer = null;
const load = async () => {
  timer = null;
  try {
    const answer = await fetch(location.href);
    if (!answer.ok) throw new Error(String(answer.status));
    const next = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("main");
    document.querySelector("main").replaceWith(next);
  } catch {
    soon(5000);
  }
};
const soon = (ms) => { timer ??= setTimeout(load, ms); };
const follow = (section) => {
  const { league, version } = section.dataset;
  const source = new EventSource("/leagues/" + encodeURIComponent(league) + "/events?from=" + version);
  const changed = (event) => {
    if (Number(event.lastEventId) > shown(league)) soon(500);
    if (event.type === "completed") source.close();
  };
  for (const type of ["player_entered", "player_left", "started", "round_opened", "match_scheduled", "match_assigned", "match_released",
    "match_completed", "match_aborted", "completed"]) source.addEventListener(type, changed);
};
if (sections().length > FOLLOWED) setInterval(load, 5000);
else sections().forEach(follow);
`;
