import { memoized } from "#shared/lib/memoized.ts";
import { WORDS } from "./codenames-words.ts";

/** An English word in capitals with the bases of which it may be a form. The word itself is the first base. */
interface Word {
  readonly text: string;
  readonly bases: readonly string[];
}

/**
 * Returns whether two words are forms of one word: plurals, tenses, degrees, and words with common endings (WHALER,
 * FARMER, BREAKAGE), by the rules of spelling and the table of irregular words. Meanings are not considered.
 */
export const areForms = (a: Word, b: Word): boolean => b.bases.some((base) => a.bases.includes(base));

/**
 * Returns whether a word is a compound that contains another word: SNOWSHOE and SHOE. The other part must be a word
 * that forms compounds, so CARPET is not a compound of CAR.
 */
export function isCompoundWith({ bases }: Word, { text: part }: Word): boolean {
  if (part.length < SHORTEST) return false;
  return bases.some((base) => {
    if (base.length < part.length + SHORTEST || unrelatedWords().has(base)) return false;
    const isCompoundPart = (rest: string): boolean =>
      makesCompounds(rest) || (rest.startsWith("S") && makesCompounds(rest.slice(1)));
    return (
      (base.startsWith(part) && isCompoundPart(base.slice(part.length))) ||
      (base.endsWith(part) && isCompoundPart(base.slice(0, -part.length)))
    );
  });
}

/** The length of the shortest word that is searched for in another word. */
const SHORTEST = 3;
/** The length of the shortest base of a derived word. With three letters HAM would be a base of HAMMER. */
const SHORTEST_DERIVED = 4;

/** Endings of inflected forms, and of derived words. */
const INFLECTIONS = ["ED", "ING"];
const DERIVATIONS = [
  "ER",
  "EST",
  "OR",
  "IST",
  "IAN",
  "Y",
  "ISH",
  "ABLE",
  "AGE",
  "ERY",
  "EN",
  "LY",
  "NESS",
  "FUL",
  "LESS",
  "OUS",
  "MENT",
  "DOM",
  "SHIP",
  "HOOD",
];

const builtIn = memoized((): ReadonlySet<string> => new Set(WORDS));
const makesCompounds = (word: string): boolean =>
  word.length >= SHORTEST && (compoundingWords().has(word) || builtIn().has(word));

/** Returns a word with its possible bases. */
export function englishWord(text: string): Word {
  const regular = unrelatedWords().has(text) ? [] : [...plurals(text), ...endings(text)];
  return {
    text,
    bases: [...new Set([text, ...regular].flatMap((base) => [base, ...(irregularBases().get(base) ?? [])]))],
  };
}

/** Returns the possible singulars of a plural. The third person of a verb has the same ending. */
function plurals(word: string): string[] {
  const found: string[] = [];
  if (/[^S]S$/.test(word)) found.push(word.slice(0, -1));
  if (/(?:[SXZO]|CH|SH)ES$/.test(word)) found.push(word.slice(0, -2));
  if (word.endsWith("IES")) found.push(`${word.slice(0, -3)}Y`);
  if (word.endsWith("VES")) found.push(`${word.slice(0, -3)}F`, `${word.slice(0, -3)}FE`);
  if (word.endsWith("MEN")) found.push(`${word.slice(0, -3)}MAN`);
  return found.filter((base) => base.length >= SHORTEST);
}

/** Returns the possible bases of a word with one of the endings. */
function endings(word: string): string[] {
  const basesBefore = (ending: string, minLength: number): string[] =>
    word.endsWith(ending)
      ? rootsOf(word.slice(0, -ending.length), ending).filter((root) => root.length >= minLength)
      : [];
  return [
    ...INFLECTIONS.flatMap((ending) => basesBefore(ending, SHORTEST)),
    ...DERIVATIONS.flatMap((ending) => basesBefore(ending, SHORTEST_DERIVED)),
    ...(word.endsWith("YING") && word.length >= 5 ? [`${word.slice(0, -4)}IE`] : []),
    ...(word.endsWith("AN") && word.length > SHORTEST_DERIVED ? [word.slice(0, -1)] : []), // AMERICAN has the base AMERICA
  ];
}

/**
 * Returns the words that have the form `root` before an ending: STOP for STOPP, BAKE for BAK, HAPPY for HAPPI, and the
 * root itself if spelling does not change it.
 */
function rootsOf(root: string, ending: string): string[] {
  const isBeforeVowel = /^[AEIOUY]/.test(ending);
  const found = isBeforeVowel && doublesLastLetter(root) ? [] : [root];
  if (isBeforeVowel && /[AEIOUY]([^AEIOUWXY])\1$/.test(root)) found.push(root.slice(0, -1));
  if (isBeforeVowel && ending !== "EN" && /[^AO]$/.test(root)) found.push(`${root}E`);
  if (ending !== "ING" && ending !== "Y" && root.endsWith("I")) found.push(`${root.slice(0, -1)}Y`);
  return found;
}

/**
 * Returns whether a word has one syllable and doubles its last letter before a vowel: STOP becomes STOPPED, so STOPED
 * belongs to STOPE.
 */
const doublesLastLetter = (word: string): boolean => /^(?:QU|[^AEIOU])*[AEIOU][^AEIOUWXY]$/.test(word);

// Tables of version 2 of the rule for clues, for words that the rules of English spelling do not cover. They are
// frozen: an old log must always verify, so a change needs a new version of the rule. For the same reason no package is
// used: its next release could reject a clue that a log contains.

/** Irregular words. Each family is a base and the forms that do not follow from the rules of spelling. */
const FAMILIES = `
ARISE AROSE ARISEN|AWAKE AWOKE AWOKEN|BE AM ARE IS WAS WERE BEEN|BEAR BORE BORN BORNE|BEAT BEATEN|BECOME BECAME|BEGIN BEGAN BEGUN|BEND BENT
BIND BOUND|BITE BIT BITTEN|BLEED BLED BLOOD|BLOW BLEW BLOWN|BREAK BROKE BROKEN|BREED BRED|BRING BROUGHT|BUILD BUILT|BURN BURNT|BUY BOUGHT
CATCH CAUGHT|CHOOSE CHOSE CHOSEN CHOICE|CLING CLUNG|CLOTHE CLAD|COME CAME|CREEP CREPT|CUT CUTTER|DEAL DEALT|DIG DUG DIGGER|DIVE DOVE
DO DOES DID DONE|DRAW DREW DRAWN|DREAM DREAMT|DRINK DRANK DRUNK DRUNKEN|DRIVE DROVE DRIVEN|DWELL DWELT|EAT ATE EATEN EATER|FALL FELL FALLEN
FEED FED|FEEL FELT|FIGHT FOUGHT|FIND FOUND|FLEE FLED|FLING FLUNG|FLY FLEW FLOWN FLIGHT|FORBID FORBADE FORBIDDEN|FORGET FORGOT FORGOTTEN
FORGIVE FORGAVE FORGIVEN|FORSAKE FORSOOK FORSAKEN|FREEZE FROZE FROZEN|GET GOT GOTTEN|GIVE GAVE GIVEN|GO GOES WENT GONE|GRIND GROUND
GROW GREW GROWN GROWTH|HANG HUNG|HAVE HAS HAD|HEAR HEARD|HIDE HID HIDDEN|HIT HITTER|HOLD HELD|KEEP KEPT|KNEEL KNELT|KNOW KNEW KNOWN|LAY LAID
LEAD LED|LEAN LEANT|LEAP LEAPT|LEARN LEARNT|LEAVE LEFT|LEND LENT|LIE LAIN LYING|LIGHT LIT|LOSE LOST LOSS|MAKE MADE|MEAN MEANT|MEET MET
MISTAKE MISTOOK MISTAKEN|MOW MOWN|OVERCOME OVERCAME|OVERTAKE OVERTOOK OVERTAKEN|OVERTHROW OVERTHREW OVERTHROWN|PAY PAID|PROVE PROVEN PROOF
RIDE RODE RIDDEN|RING RANG RUNG|RISE ROSE RISEN|RUN RAN RUNNER|SAW SAWN|SAY SAID|SEE SAW SEEN|SEEK SOUGHT|SELL SOLD|SEND SENT|SEW SEWN
SHAKE SHOOK SHAKEN|SHAVE SHAVEN|SHEAR SHORN|SHINE SHONE|SHOE SHOD|SHOOT SHOT|SHOW SHOWN|SHRINK SHRANK SHRUNK SHRUNKEN|SING SANG SUNG SONG
SINK SANK SUNK SUNKEN|SIT SAT|SLAY SLEW SLAIN|SLEEP SLEPT|SLIDE SLID|SLING SLUNG|SMELL SMELT|SNEAK SNUCK|SOW SOWN|SPEAK SPOKE SPOKEN SPEECH
SPEED SPED|SPELL SPELT|SPEND SPENT|SPILL SPILT|SPIN SPUN|SPIT SPAT|SPOIL SPOILT|SPRING SPRANG SPRUNG|STAND STOOD|STEAL STOLE STOLEN
STICK STUCK|STING STUNG|STINK STANK STUNK|STRIDE STRODE STRIDDEN|STRIKE STRUCK STRICKEN|STRING STRUNG|STRIVE STROVE STRIVEN
SWEAR SWORE SWORN|SWEEP SWEPT|SWELL SWOLLEN|SWIM SWAM SWUM|SWING SWUNG|TAKE TOOK TAKEN|TEACH TAUGHT|TEAR TORE TORN|TELL TOLD|THINK THOUGHT
THROW THREW THROWN|TREAD TROD TRODDEN|UNDERGO UNDERWENT UNDERGONE|UNDERSTAND UNDERSTOOD|UNDERTAKE UNDERTOOK UNDERTAKEN|UPHOLD UPHELD
WAKE WOKE WOKEN|WEAR WORE WORN|WEAVE WOVE WOVEN|WEEP WEPT|WIN WON WINNER|WIND WOUND|WITHDRAW WITHDREW WITHDRAWN|WRING WRUNG
WRITE WROTE WRITTEN
BROTHER BRETHREN|CHILD CHILDREN|DIE DICE DIED DYING DEAD DEATH|FOOT FEET|GOOSE GEESE|LOUSE LICE|MAN MEN|MOUSE MICE|OX OXEN|PENNY PENCE
PERSON PEOPLE|TOOTH TEETH|WOMAN WOMEN|AX AXE AXES|QUIZ QUIZZES
ALGA ALGAE|ALUMNUS ALUMNI|ANALYSIS ANALYSES|ANTENNA ANTENNAE|APPENDIX APPENDICES|AXIS AXES|BACTERIUM BACTERIA|BASIS BASES|CACTUS CACTI
CRISIS CRISES|CRITERION CRITERIA|DATUM DATA|DIAGNOSIS DIAGNOSES|FORMULA FORMULAE|FUNGUS FUNGI|GENUS GENERA|HIPPOPOTAMUS HIPPOPOTAMI
HYPOTHESIS HYPOTHESES|INDEX INDICES|LARVA LARVAE|MATRIX MATRICES|MEDIUM MEDIA|NEBULA NEBULAE|NUCLEUS NUCLEI|OASIS OASES|OCTOPUS OCTOPI
PHENOMENON PHENOMENA|PLATEAU PLATEAUX|RADIUS RADII|SPECTRUM SPECTRA|STADIUM STADIA|STIMULUS STIMULI|SUPERNOVA SUPERNOVAE|SYLLABUS SYLLABI
THESIS THESES|VERTEBRA VERTEBRAE|VERTEX VERTICES|VORTEX VORTICES
BAD WORSE WORST|BIG BIGGER BIGGEST|DRY DRIER DRYER DRIEST|FAR FARTHER FURTHER FARTHEST FURTHEST|FAT FATTER FATTEST|GOOD BETTER BEST|HOT HOTTER HOTTEST HEAT
LITTLE LESS LEAST|LOW LOWER LOWEST|MANY MUCH MORE MOST|NEW NEWER NEWEST|OLD OLDER OLDEST ELDER ELDEST|RED REDDER REDDEST|SAD SADDER SADDEST
SHY SHIER SHYER|WET WETTER WETTEST
ACT ACTOR ACTRESS|ART ARTIST ARTISTIC|BEG BEGGAR|EMPEROR EMPRESS EMPIRE|GUN GUNNER|HUNGER HUNGRY|LAW LAWYER|LIFE LIVE ALIVE|LONG LENGTH
MUSIC MUSICIAN MUSICAL|PRINCE PRINCESS|SKI SKIER|STRONG STRENGTH|SUN SUNNY|WAITER WAITRESS|WIDE WIDTH|WISE WISDOM|YOUNG YOUTH
MAGIC MAGICIAN MAGICAL|DANCE DANCER|NURSE NURSERY|BAKE BAKER BAKERY|ANGER ANGRY|BROAD BREADTH|DEEP DEPTH|HIGH HEIGHT|WARM WARMTH
ENGLAND ENGLISH|FRANCE FRENCH|GREECE GREEK|ICE ICY|JEWEL JEWELRY|MAID MERMAID|MARINE SUBMARINE|NUT WALNUT|WIZARD WIZARDRY`;

/** Words that look like a form of a shorter word, or like a compound with it, but are not. */
const UNRELATED = `
BANDAGE BARBER BATTERY BELLY BODY BOTHER BULLY CAPABLE CAPER CENTER CITY CLOVER COLONY CONTEST COPY CORNER COUNTY COVER CRATER DENTIST DEPARTMENT EARNEST
EVENING FEED FINISH FLOWER FOREST GARBAGE GRAVY GULLY HERRING HOLY HONEST HOSTAGE INTEREST IRONY LISTEN LIVER MASSAGE MASTER MESSAGE MOTHER NAVY NUMBER
PARTY POLICY POLISH PONY PROPERTY SEASON SEED SHED SHOWER STORY STUDY TAILOR TEMPER TEMPEST TIDY TREATY WICKED`;

/** Words that form compounds with other words: SNOW in SNOWSHOE. The built-in words of the board do so as well. */
const COMPOUNDING = `
AIR ARM BACK BAG BALL BAND BAR BASE BATH BATTLE BEAD BED BEE BELL BERG BERRY BIRD BIRTH BITE BLACK BLOOD BLUE BOARD BOAT BODY BONE BOOK BOW BOX BOY BREAK
BROTHER BROW BUG BUSH BUTTER CAP CARD CARE CASE CAST CHAIR CLOTH COACH COAST COAT COCK COCO CORK CORN COUNTER COURT COW CRAFT CROSS CUP CUT DAY
DEER DOG DOLL DOOR DOWN DREAM DRIVE DROP DUST EARTH EYE FACE FALL FARM FATHER FIELD FINGER FIRE FISH FLAKE FLASH FLOWER FLY FOOT FORE FREE FROG FRONT
FRUIT GATE GIRL GLASS GOLD GRAND GRASS GRAVE GREAT GREEN GREY GROUND GUARD GUN HAIL HAIR HALF HAND HAT HEAD HEART HEDGE HILL HOG HOLE HOME HOOD HOOK
HORN HORSE HOUR HOUSE HUNTER ICE JACK JAW JELLY KEEPER KEY KNIFE LACE LADY LAND LAST LID LIFE LIGHT LINE LOCK MAID MAIL MAKER MAN MARK MASTER MATE MEN
MILL MOON MOTHER MOUTH NAIL NECK NET NIGHT NOSE NOTE NUT OUT OVER PACK PAGE PAINT PAN PAPER PARK PEA PEPPER PICK PIECE PIG PIN PINE PIPE PLACE PLANE
PLATE PLAY PLUG POINT POLE POOL PORT POST POT POWER PRINT PROOF QUAKE RACE RAIL RAIN RED RIDE RIDER RING ROAD ROCK ROOF ROOM ROOT ROPE RUNNER SAFE SAND
SCAPE SCRAPER SEA SHED SHELF SHELL SHINE SHIP SHOE SHOP SHORE SHOT SHOW SIDE SILVER SKIN SKY SMITH SNOW SPACE SPOT STAIR STAND STAR STATION STEP STICK
STONE STORE STORM STRAW STRING SUIT SUN SWEET TABLE TAIL TEA TIDE TIME TOE TOOTH TOP TRAIN TRAP TREE TRUNK TUB UNDER VIEW WALK WALL WARE WASH WATCH
WATER WAY WEED WEEK WHITE WIND WING WOMAN WOMEN WOOD WORK WORM WRECK YARD`;

const wordsOf = (text: string): readonly string[] => text.trim().split(/\s+/);

/** Maps a form to the bases that it may belong to, including itself if it is a base: SAW to SAW and SEE. */
const irregularBases = memoized((): ReadonlyMap<string, readonly string[]> => {
  const bases = new Map<string, string[]>();
  for (const family of FAMILIES.trim().split(/[|\n]/).map(wordsOf)) {
    const [base = ""] = family;
    for (const form of family) bases.set(form, [...(bases.get(form) ?? []), base]);
  }
  return bases;
});

const unrelatedWords = memoized((): ReadonlySet<string> => new Set(wordsOf(UNRELATED)));
const compoundingWords = memoized((): ReadonlySet<string> => new Set(wordsOf(COMPOUNDING)));
