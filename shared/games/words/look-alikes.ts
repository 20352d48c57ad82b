import { memoized } from "../../lib/lazily.ts";

/**
 * Letters that look like a capital of the Latin alphabet, from Unicode's confusables.txt (UTS 39, version 13), as `fold` leaves them; right-to-left
 * scripts are left out, and small capitals are added. Frozen: it belongs to clue rule 2, so a change needs a new version of the rule.
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

/** A folded text with each letter that looks like a Latin one replaced by it. */
export function latinLook(folded: string): string {
  const latin = latinOf();
  return Array.from(folded, (letter) => latin.get(letter) ?? letter).join("");
}
