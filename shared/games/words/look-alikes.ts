import { memoized } from "../../lib/memoized.ts";

/**
 * Letters that look like a capital letter of the Latin alphabet, in the form that `fold` returns, from Unicode's
 * confusables.txt (UTS 39, version 13), without right-to-left scripts and with small capitals. The table is frozen: it
 * belongs to version 2 of the rule for clues, so a change needs a new version.
 */
const ROWS: Readonly<Record<string, string>> = {
  A: "ΑАᎪᗅᴀꓮ𐊠𖽀",
  B: "ƁƂƄʙΒБВЬѢҌᏏᏴᑲᑳᒈᖯᗷꓐꞴ𐊂𐊡𐌁",
  C: "ƇСҪᏟᴄⲤꓚ𐊢𐌂𐐕𐔜",
  D: "ÐĐƉƊᎠᏧᑯᒇᗞᗪᴅꓒꓓ",
  E: "ɆΕЕᎬᴇⴹꓰꬲ𐊆𑢦𑢮",
  F: "ƑϜᖴᵮẝꓝꜰꞘꬵ𐊇𐊥𐔥𑢢",
  G: "ƍƓǤɢԌᏀᏳᶃꓖ",
  H: "ĦʜΗНҢӇӉᎻᏂᏲᕼⱧⲎꓧ𐋏",
  I: "ƖƗǀɭΙІӀᎥᛁᵻᵼⲒⵏꓲꞮ𐊊𐌉𖼨",
  J: "ɈͿЈᎫᒍᴊꓙꞲ",
  K: "ƘΚКҚҞᏦᛕᴋⱩⲔꓗꝀ𐔘",
  L: "ŁʟᏞᒪⳐꓡ𐐛𐔦𑢣𑢲𖼖",
  M: "ΜϺМӍᎷᗰᛖᴍⲘꓟ𐊰𐌑",
  N: "ƝɳɴΝᵰⲚꓠ𐔓",
  O: "ØƟΘΟОѲӨՕଠഠတဝዐᎤᎾᏫᴏᴑⲞⴱⵁⵔꓳꝊꬽꬾ𐊒𐊫𐐄𐓂𐔖𑢵",
  P: "ƤΡРᏢᑭᒆᴘⲢꓑ𐊕",
  Q: "ʠⵕ",
  R: "ƦɼᎡᏒᖇᴦᵲꓣꭇꭈ𐒴𖼵",
  S: "ЅՏᏕᏚᵴꓢꜱ𐊖𐐠𖼺",
  T: "ŦƬƮȾΤТҬᎢᵵⲦꓔ𐊗𐊱𐌕𑢼𖼊",
  U: "ɄՍሀᏌᑌᑧᴜᵾꓴꭎꭒ𐓎𑢸𖽂",
  V: "ѴᏙᐯᴠⴸꓦꛟ𐔝𑜆𑢠𖼈",
  W: "ԜᎳᏔᴡꓪ𑓅𑜊𑜎𑜏",
  X: "ΧХҲᕁᕽᚷⲬⵝꓫꞳ𐊐𐊴𐌗𐔧",
  Y: "ƳɎʏΥУҮҰᎩᎽᶌⲨꓬꭚ𐊲𑢤𖽃",
  Z: "ƵȤʐΖᏃᴢᵶꓜ𑢩",
  AE: "ÆӔ",
  OE: "Œ",
};

const latinOf = memoized(
  (): ReadonlyMap<string, string> =>
    new Map(
      Object.entries(ROWS).flatMap(([latin, letters]) => Array.from(letters, (letter) => [letter, latin] as const)),
    ),
);

/** Returns a folded text in which each letter that looks like a Latin letter is replaced by that letter. */
export function withLatinLetters(folded: string): string {
  const latin = latinOf();
  return Array.from(folded, (letter) => latin.get(letter) ?? letter).join("");
}
