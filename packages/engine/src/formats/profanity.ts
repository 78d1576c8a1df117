/** Coarse words of English that hardly anybody would defend in a form. Forms of them are listed one by one: no beginnings, no fragments. */
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

/** Characters that are often written in place of letters. */
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
/** Longer runs of characters are no words of the list. */
const MAX_WORD = 20;

/** Whether one of the words stands in a text as a whole word, in any case, plainly or with the usual digits and signs for letters. */
export const containsProfanity = (text: string): boolean => {
  for (const [word] of text.toLowerCase().matchAll(WORD)) {
    if (word.length > MAX_WORD) continue;
    if (WORDS.has(word) || WORDS.has(word.replace(DISGUISE, (sign) => DISGUISES[sign] ?? sign))) return true;
    if (word.endsWith('!') && WORDS.has(word.slice(0, word.indexOf('!')))) return true;
  }
  return false;
};
