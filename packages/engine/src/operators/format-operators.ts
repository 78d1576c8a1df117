import { asciiUpperCase, everyUnit, format, isDigit, opposite } from './format-operator';
import { type Operator } from './operator-entry';

const NOT_LETTERS = /[^\p{L}\p{M}]/u;
const NOT_LETTERS_OR_DIGITS = /[^\p{L}\p{M}0-9]/u;
const NUMERIC = /^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/;

/** Letters of any script and their accents; at least one. */
const isOnlyLetters = (text: string): boolean => text !== '' && !NOT_LETTERS.test(text);

/** Letters of any script and the digits 0 to 9; at least one. */
const isOnlyLettersAndDigits = (text: string): boolean => text !== '' && !NOT_LETTERS_OR_DIGITS.test(text);

/** The digits 0 to 9; at least one. */
const isOnlyDigits = (text: string): boolean => text !== '' && everyUnit(text, isDigit);

/** A decimal number: an optional sign, digits, a point, an exponent; no surrounding characters. */
const isNumeric = (text: string): boolean => NUMERIC.test(text);

/** Has a letter with case, and none in lower case. */
const isUppercase = (text: string): boolean => text === text.toUpperCase() && text !== text.toLowerCase();

/** Has a letter with case, and none in upper case. */
const isLowercase = (text: string): boolean => text === text.toLowerCase() && text !== text.toUpperCase();

/** ISO 3166-1: each country's code of two letters and of three. */
const CODES = `
  AD:AND AE:ARE AF:AFG AG:ATG AI:AIA AL:ALB AM:ARM AO:AGO AQ:ATA AR:ARG AS:ASM AT:AUT AU:AUS AW:ABW AX:ALA AZ:AZE
  BA:BIH BB:BRB BD:BGD BE:BEL BF:BFA BG:BGR BH:BHR BI:BDI BJ:BEN BL:BLM BM:BMU BN:BRN BO:BOL BQ:BES BR:BRA BS:BHS BT:BTN BV:BVT BW:BWA BY:BLR BZ:BLZ
  CA:CAN CC:CCK CD:COD CF:CAF CG:COG CH:CHE CI:CIV CK:COK CL:CHL CM:CMR CN:CHN CO:COL CR:CRI CU:CUB CV:CPV CW:CUW CX:CXR CY:CYP CZ:CZE
  DE:DEU DJ:DJI DK:DNK DM:DMA DO:DOM DZ:DZA EC:ECU EE:EST EG:EGY EH:ESH ER:ERI ES:ESP ET:ETH FI:FIN FJ:FJI FK:FLK FM:FSM FO:FRO FR:FRA
  GA:GAB GB:GBR GD:GRD GE:GEO GF:GUF GG:GGY GH:GHA GI:GIB GL:GRL GM:GMB GN:GIN GP:GLP GQ:GNQ GR:GRC GS:SGS GT:GTM GU:GUM GW:GNB GY:GUY
  HK:HKG HM:HMD HN:HND HR:HRV HT:HTI HU:HUN ID:IDN IE:IRL IL:ISR IM:IMN IN:IND IO:IOT IQ:IRQ IR:IRN IS:ISL IT:ITA
  JE:JEY JM:JAM JO:JOR JP:JPN KE:KEN KG:KGZ KH:KHM KI:KIR KM:COM KN:KNA KP:PRK KR:KOR KW:KWT KY:CYM KZ:KAZ
  LA:LAO LB:LBN LC:LCA LI:LIE LK:LKA LR:LBR LS:LSO LT:LTU LU:LUX LV:LVA LY:LBY
  MA:MAR MC:MCO MD:MDA ME:MNE MF:MAF MG:MDG MH:MHL MK:MKD ML:MLI MM:MMR MN:MNG MO:MAC MP:MNP MQ:MTQ MR:MRT MS:MSR MT:MLT MU:MUS MV:MDV MW:MWI MX:MEX MY:MYS MZ:MOZ
  NA:NAM NC:NCL NE:NER NF:NFK NG:NGA NI:NIC NL:NLD NO:NOR NP:NPL NR:NRU NU:NIU NZ:NZL OM:OMN
  PA:PAN PE:PER PF:PYF PG:PNG PH:PHL PK:PAK PL:POL PM:SPM PN:PCN PR:PRI PS:PSE PT:PRT PW:PLW PY:PRY QA:QAT RE:REU RO:ROU RS:SRB RU:RUS RW:RWA
  SA:SAU SB:SLB SC:SYC SD:SDN SE:SWE SG:SGP SH:SHN SI:SVN SJ:SJM SK:SVK SL:SLE SM:SMR SN:SEN SO:SOM SR:SUR SS:SSD ST:STP SV:SLV SX:SXM SY:SYR SZ:SWZ
  TC:TCA TD:TCD TF:ATF TG:TGO TH:THA TJ:TJK TK:TKL TL:TLS TM:TKM TN:TUN TO:TON TR:TUR TT:TTO TV:TUV TW:TWN TZ:TZA
  UA:UKR UG:UGA UM:UMI US:USA UY:URY UZ:UZB VA:VAT VC:VCT VE:VEN VG:VGB VI:VIR VN:VNM VU:VUT WF:WLF WS:WSM YE:YEM YT:MYT ZA:ZAF ZM:ZMB ZW:ZWE
`;

const known: ReadonlySet<string> = new Set(CODES.trim().split(/[\s:]+/));

/** Whether a text is a country code of two or three letters by ISO 3166-1, in any case. */
const isCountryCode = (text: string): boolean => text.length <= 3 && known.has(asciiUpperCase(text));

const MIN_DIGITS = 12;
const MAX_DIGITS = 19;
const MAX_LENGTH = 40;

/**
 * Whether a text is a card number: 12 to 19 digits that do not start with 0 and pass the Luhn check, optionally separated by single spaces or
 * hyphens.
 */
const isCreditCardNumber = (text: string): boolean => {
  if (text.length > MAX_LENGTH || text.startsWith('0')) return false;
  const digits: number[] = [];
  for (let index = 0; index < text.length; index += 1) {
    if (isDigit(text.charCodeAt(index))) digits.push(text.charCodeAt(index) - 48);
    else if (!isSeparator(text, index)) return false;
  }
  return digits.length >= MIN_DIGITS && digits.length <= MAX_DIGITS && luhnSum(digits) % 10 === 0;
};

const isSeparator = (text: string, index: number): boolean =>
  (text[index] === ' ' || text[index] === '-') &&
  isDigit(text.charCodeAt(index - 1)) &&
  isDigit(text.charCodeAt(index + 1));

/** From the right, every second digit counts double, and a double of two digits counts as the sum of these digits. */
const luhnSum = (digits: readonly number[]): number =>
  digits.reduce((sum, digit, index) => {
    const isDoubled = (digits.length - index) % 2 === 0;
    const counted = isDoubled ? digit * 2 : digit;
    return sum + (counted > 9 ? counted - 9 : counted);
  }, 0);

/** Coarse words of English that hardly anybody would defend in a form. Their forms are listed one by one: no prefixes, no fragments. */
const WORDS: ReadonlySet<string> = new Set(
  `
  arse arsehole arseholes ass asses asshole assholes bastard bastards bitch bitches bitching bollocks bullshit
  cock cocks cocksucker cocksuckers cunt cunts dick dickhead dickheads dicks dumbass fag faggot faggots fags
  fuck fucked fucker fuckers fucking fucks jackass motherfucker motherfuckers motherfucking nigger niggers
  piss pissed pissing prick pricks pussy shit shits shitted shitting shitty slut sluts twat twats wanker wankers whore whores
  `
    .trim()
    .split(/\s+/),
);

/** Characters that are often written instead of letters. */
const DISGUISES: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  $: 's',
  '@': 'a',
  '!': 'i',
};

const WORD = /[\p{L}\p{M}\p{N}$@!]+/gu;
const DISGUISE = /[01345$@!]/g;
/** Longer runs of characters are not words of the list. */
const MAX_WORD = 20;

/** Whether a text contains one of the words as a whole word, in any case, plainly or with the usual digits and signs for letters. */
const containsProfanity = (text: string): boolean => {
  for (const [word] of text.toLowerCase().matchAll(WORD)) {
    if (word.length > MAX_WORD) continue;
    if (WORDS.has(word) || WORDS.has(word.replace(DISGUISE, (sign) => DISGUISES[sign] ?? sign))) return true;
    if (word.endsWith('!') && WORDS.has(word.slice(0, word.indexOf('!')))) return true;
  }
  return false;
};

/** Nanoseconds per character for operators that check each word. */
const WORD_BY_WORD = 100;

const CARD = '4111 1111 1111 1111';

/** Operators that check whether a text has a certain format. */
export const formatOperators: readonly Operator[] = [
  format(
    'is a valid credit card number',
    'Has 12 to 19 digits that pass the Luhn check, perhaps with single spaces or hyphens between them.',
    [CARD, '4111 1111 1111 1112'],
    isCreditCardNumber,
  ),
  opposite(
    'is not a valid credit card number',
    'Is not 12 to 19 digits that pass the Luhn check.',
    ['4111 1111 1111 1112', CARD],
    isCreditCardNumber,
  ),
  format(
    'is a valid country code',
    'Is a code of two or three letters by ISO 3166-1, in any case.',
    ['DE', 'XX'],
    isCountryCode,
  ),
  opposite(
    'is not a valid country code',
    'Is no code of two or three letters by ISO 3166-1.',
    ['XX', 'DE'],
    isCountryCode,
  ),
  format(
    'contains profanity',
    'Holds, as a whole word, one of a short list of coarse English words.',
    ['what the fuck', 'Scunthorpe'],
    containsProfanity,
    WORD_BY_WORD,
  ),
  opposite(
    'does not contain profanity',
    'Holds none of a short list of coarse English words.',
    ['Scunthorpe', 'what the fuck'],
    containsProfanity,
    WORD_BY_WORD,
  ),
  format('is uppercase', 'Has a letter with case and none in lower case.', ['ABC-1', 'aBC'], isUppercase),
  format('is lowercase', 'Has a letter with case and none in upper case.', ['abc-1', 'aBC'], isLowercase),
  format(
    'is numeric',
    'Is a decimal number: perhaps a sign, digits, a point, an exponent; nothing around it.',
    ['-1.5e3', '1,5'],
    isNumeric,
  ),
  format('contains only digits', 'Has at least one character and only digits 0 to 9.', ['0123', '12a'], isOnlyDigits),
  format(
    'contains only letters',
    'Has at least one character and only letters, of any script.',
    ['Zoë', 'Zoë 1'],
    isOnlyLetters,
  ),
  format(
    'contains only digits and letters',
    'Has at least one character and only letters, of any script, and digits 0 to 9.',
    ['Zoë1', 'Zoë 1'],
    isOnlyLettersAndDigits,
  ),
];
