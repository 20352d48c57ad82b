import { describe, expect, it } from "vitest";
import { ownerOf } from "./members.ts";

const members = ["a1", "b2", "c3"].map((managerId) => ({ managerId }));
const keys = Array.from({ length: 3_000 }, (_, index) => `inbox/P${index}`);
const owners = (of: readonly { managerId: string }[]) => keys.map((key) => ownerOf(key, of)?.managerId ?? null);

describe("rendezvous hashing", () => {
  it("gives each of three members about a third of the keys", () => {
    for (const { managerId } of members) {
      const share = owners(members).filter((home) => home === managerId).length / keys.length;
      expect(share).toBeGreaterThan(0.3);
      expect(share).toBeLessThan(0.37);
    }
  });

  it("does not depend on the order of the members", () => {
    expect(owners([...members].reverse())).toEqual(owners(members));
  });

  it("moves only the keys of a member that leaves, to all others", () => {
    const before = owners(members);
    const after = owners(members.filter(({ managerId }) => managerId !== "b2"));
    const moved = keys.flatMap((_, index) => (before[index] === after[index] ? [] : [after[index]]));
    expect(before.filter((home) => home === "b2")).toHaveLength(moved.length);
    expect(new Set(moved)).toEqual(new Set(["a1", "c3"]));
  });

  it("moves keys only to a member that joins", () => {
    const before = owners(members);
    const after = owners([...members, { managerId: "d4" }]);
    const moved = keys.flatMap((_, index) => (before[index] === after[index] ? [] : [after[index]]));
    expect(new Set(moved)).toEqual(new Set(["d4"]));
    expect(moved.length / keys.length).toBeLessThan(0.29);
    expect(moved.length / keys.length).toBeGreaterThan(0.21);
  });

  it("has no home without members", () => {
    expect(ownerOf("inbox/P01", [])).toBeNull();
  });
});
