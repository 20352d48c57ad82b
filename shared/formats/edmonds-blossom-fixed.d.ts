/** Type declarations that `edmonds-blossom-fixed` does not provide. */
declare module "edmonds-blossom-fixed" {
  /**
   * Returns the partner of each vertex in a matching of maximum weight, and -1 for a vertex without a partner. Vertices are numbered from 0. With
   * `maxCardinality` only matchings with as many edges as possible are compared.
   */
  export default function blossom(
    edges: readonly (readonly [vertex: number, other: number, weight: number])[],
    maxCardinality: boolean,
  ): readonly number[];
}
