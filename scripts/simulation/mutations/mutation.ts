/** A deliberate fault in production code. `from` occurs exactly once in the file and is replaced by `to`. */
export interface Mutation {
  readonly name: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
}
