import { hash } from "node:crypto";

/**
 * Returns the member that has a key, by rendezvous hashing: the one with the highest hash of key and id. All managers with the same members therefore
 * find the same one without asking each other, and a member that joins or leaves moves only its own keys. Returns null without members.
 */
export function homeOf<Member extends { readonly managerId: string }>(
  key: string,
  members: readonly Member[],
): Member | null {
  let home: Member | null = null;
  let highest = "";
  for (const member of members) {
    const score = hash("sha256", `${member.managerId}\n${key}`, "hex");
    if (home !== null && score <= highest) continue;
    home = member;
    highest = score;
  }
  return home;
}
