/** The icon of every page: three bars of a podium. */
export const ICON = `data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><g fill="#1f5fbf"><rect x="1" y="8" width="4" height="7" rx="1"/><rect x="6" y="3" width="4" height="12" rx="1"/><rect x="11" y="10" width="4" height="5" rx="1"/></g></svg>')}`;

/** Returns the element that contains the data of a page for its script. */
export const setupElement = (setup: object): string =>
  `<script type="application/json" id="setup">${jsonForScript(setup)}</script>`;

/** Returns JSON that cannot end its script element, whatever text it contains. */
export function jsonForScript(value: unknown): string {
  return JSON.stringify(value).replaceAll("<", "\\u003c");
}
