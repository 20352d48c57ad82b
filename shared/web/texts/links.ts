/**
 * Returns the path of a link with its query and fragment. A link of the server contains the address for other machines;
 * a page stays at the address at which it was opened, e.g. that of a proxy.
 */
export function pathOf(link: string): string {
  const { pathname, search, hash } = new URL(link, "http://localhost");
  return pathname + search + hash;
}
