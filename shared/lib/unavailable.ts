/** Thrown if something cannot be done now, for a cause that will pass. The message is sent to callers, so it has no secrets. */
export class Unavailable extends Error {
  override readonly name: string = "Unavailable";
}
