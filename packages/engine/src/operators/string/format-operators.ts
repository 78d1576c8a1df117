import { isCountryCode } from '../../formats/country-codes';
import { isCreditCardNumber } from '../../formats/credit-card-number';
import { isEmailAddress, isPersonalEmailAddress, isWorkEmailAddress } from '../../formats/email-address';
import { isIpAddress, isIpv6Address } from '../../formats/ip-address';
import {
  isLowercase,
  isNumeric,
  isOnlyDigits,
  isOnlyLetters,
  isOnlyLettersAndDigits,
  isUppercase,
} from '../../formats/letters';
import { isPhoneNumber } from '../../formats/phone-number';
import { containsProfanity } from '../../formats/profanity';
import { isUrl } from '../../formats/url';
import { isZipCode } from '../../formats/zip-code';
import { negate, test } from '../condition';
import { type Operator, operatorsOf } from '../operator-entry';

const operator = operatorsOf<string>('string');

/** An operator without arguments: its name, meaning, a text that matches, one that does not, and its test. */
const format = (
  op: string,
  meaning: string,
  [matches, misses]: readonly [string, string],
  passes: (text: string) => boolean,
  readingCost?: number,
): Operator =>
  operator({ op, args: [], meaning, example: [[], matches, misses], readingCost, condition: () => test(passes) });

const opposite = (
  op: string,
  meaning: string,
  [matches, misses]: readonly [string, string],
  passes: (text: string) => boolean,
  readingCost?: number,
): Operator =>
  operator({
    op,
    args: [],
    meaning,
    example: [[], matches, misses],
    readingCost,
    condition: () => negate(test(passes)),
  });

/** Nanoseconds a character, of what looks at each word. */
const WORD_BY_WORD = 100;

const MAIL = 'ada@example.org';
const URL = 'https://example.org/a?b=1';
const CARD = '4111 1111 1111 1111';

/** Operators that ask whether a text is written in a certain way. */
export const formatOperators: readonly Operator[] = [
  format(
    'is a valid phone number',
    'Has 7 to 15 digits, perhaps a leading +, single spaces, hyphens, dots or slashes between them, and one group in parentheses.',
    ['+44 20 7946 0958', '12-34'],
    isPhoneNumber,
  ),
  format(
    'is a valid zip code',
    'Is a ZIP code of the United States: five digits, perhaps a hyphen and four more.',
    ['94103-1234', '9410'],
    isZipCode,
  ),
  format(
    'is a work email address',
    'Is a mail address whose domain is none of the well-known providers for anybody.',
    ['ada@example.org', 'ada@gmail.com'],
    isWorkEmailAddress,
  ),
  format(
    'is a personal email address',
    'Is a mail address at one of the well-known providers for anybody.',
    ['ada@gmail.com', 'ada@example.org'],
    isPersonalEmailAddress,
  ),
  format('is a valid email address', 'Is written as a mail address.', [MAIL, 'ada@example'], isEmailAddress),
  opposite('is not a valid email address', 'Is not written as a mail address.', ['ada', MAIL], isEmailAddress),
  format(
    'is a valid URL',
    'Is an absolute http, https or ftp address of a domain name, an IP address or localhost.',
    [URL, 'example.org'],
    isUrl,
  ),
  opposite('is not a valid URL', 'Is not an absolute http, https or ftp address.', ['example.org', URL], isUrl),
  format('is a valid IP address', 'Is an IPv4 or IPv6 address.', ['192.0.2.1', '192.0.2.256'], isIpAddress),
  opposite(
    'is not a valid IP address',
    'Is neither an IPv4 nor an IPv6 address.',
    ['192.0.2.256', '192.0.2.1'],
    isIpAddress,
  ),
  format('is a valid IPV6 address', 'Is an IPv6 address, without a zone.', ['2001:db8::1', '192.0.2.1'], isIpv6Address),
  opposite('is not a valid IPV6 address', 'Is no IPv6 address.', ['192.0.2.1', '2001:db8::1'], isIpv6Address),
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
