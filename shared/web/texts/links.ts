/**
 * The path of a link, with what follows it. The server's link names the address that it would tell another machine; a page stays at the
 * address by which it was opened, such as a proxy's.
 */
export function pathOf(link: string): string {
  const { pathname, search, hash } = new URL(link, "http://localhost");
  return pathname + search + hash;
}
