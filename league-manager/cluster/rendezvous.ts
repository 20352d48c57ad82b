import { hash } from "node:crypto";

/**
 * Returns the owner of a key by rendezvous hashing: the member with the highest hash of key and id. All managers with the same members therefore find the
 * same owner without asking each other, and a member that joins or leaves moves only its own keys. Returns null without members.
 */
export function ownerOf<Member extends { readonly managerId: string }>(
  key: string,
  members: readonly Member[],
): Member | null {
  let owner: Member | null = null;
  let highest = "";
  for (const member of members) {
    const score = hash("sha256", `${member.managerId}\n${key}`, "hex");
    if (owner !== null && score <= highest) continue;
    owner = member;
    highest = score;
  }
  return owner;
}
