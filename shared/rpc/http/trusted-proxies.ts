import { BlockList, isIP } from "node:net";
import type { IsTrustedProxy } from "./request.ts";

/** Returns whether a text is an IP address, or a network such as `10.0.0.0/8`. */
export function isAddressOrNetwork(text: string): boolean {
  const [address = "", bits, ...more] = text.split("/");
  const maxBits = isIP(address) === 6 ? 128 : 32;
  const isNetwork = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= maxBits);
  return isIP(address) !== 0 && isNetwork && more.length === 0;
}

/** Returns a function that is true for the addresses in a list of addresses and networks. */
export function trustedProxies(list: readonly string[]): IsTrustedProxy {
  if (list.length === 0) return () => false;
  const known = new BlockList();
  for (const text of list) {
    const [address = "", bits] = text.split("/");
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    if (bits === undefined) known.addAddress(address, family);
    else known.addSubnet(address, Number(bits), family);
  }
  return (text) => {
    const address = text.replace(/^::ffff:(?=\d+\.)/i, "");
    return isIP(address) !== 0 && known.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
  };
}
