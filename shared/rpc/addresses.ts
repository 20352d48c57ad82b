/** Whether a host name or IP address means this machine itself. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, "").toLowerCase();
  return bare === "localhost" || bare === "::1" || /^(::ffff:)?127\.\d+\.\d+\.\d+$/.test(bare);
}

/** The URL of an agent's endpoint, or null for anything but a plain http(s) URL without credentials. */
export function parseEndpoint(text: string): URL | null {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") return null;
  return url;
}

/**
 * Whether an agent may give this endpoint as its own: the address that it registers from, loopback for callers on loopback
 * only, or a host that is allowed by the config (PROTOCOL.md, section 3: nobody makes the league call a third party).
 */
export function mayContact(endpoint: URL, remoteAddress: string, allowedHosts: readonly string[]): boolean {
  const host = endpoint.hostname.replace(/^\[|\]$/g, "");
  if (isLoopback(host)) return isLoopback(remoteAddress);
  return allowedHosts.includes(host) || host === remoteAddress.replace(/^::ffff:/, "");
}
