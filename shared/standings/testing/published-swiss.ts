/**
 * A Swiss tournament of five rounds. Source: Mario Held, "Exercises in Tie-Breaking" (C.07-2023, Rev. 2403220900), published by the FIDE Technical
 * Commission on 2024-03-18 (https://tec.fide.com/2024/03/18/tie-break-exercise/).
 *
 * Each row has the rounds of a player. Each cell is a colour or kind, the opponent and the result: `w9+` is a win with white against player 9.
 * `F11-` is lost by forfeit.
 */
export const PUBLISHED_SWISS: readonly (readonly string[])[] = [
  "w9+ b13= w2= b15+ w4=",
  "b10+ w7+ b1= w16+ b3=",
  "w11= b6+ w8+ b4= w2=",
  "b12+ half w13+ w3= b1=",
  "w13- b15- w11+ b7= w10+",
  "b14- w3- bye w10+ b8+",
  "w15+ b2- b16- w5= b11-",
  "b16= w14+ b3- w13+ w6-",
  "b1- w10- half F11- bye",
  "w2- b9+ w15- b6- b5-",
  "b3= w16- b5- F9+ w7+",
  "w4- bye F14+ zero zero",
  "b5+ w1= b4- b8- w14-",
  "w6+ b8- F12- zero b13+",
  "b7- w5+ b10+ w1- b16-",
  "w8= b11+ w7+ b2- w15+",
].map((row) => row.split(" "));
