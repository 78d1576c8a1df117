import { inspect } from 'node:util';
import { type Limit } from '@decision/contracts';

const MASK = '[secret]';

/** A value that may be used but never shown: it prints, serialises and inspects as `[secret]`. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The value itself. Call it only where the value is used, and pass the secret on everywhere else. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return MASK;
  }

  toJSON(): string {
    return MASK;
  }

  [inspect.custom](): string {
    return MASK;
  }
}

/** Result of reading one value: the value, or its fault as a fragment such as `is below 1`. */
export type SettingReading<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly fault: string };

/** The environment of a setting when a service starts. */
export interface Surroundings {
  /** Variables that the service reads. */
  readonly variables: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** One value that an operator can set through the environment. */
export interface Setting<T> {
  /** Environment variable that sets it. */
  readonly env: string;
  /** Purpose, as a sentence. */
  readonly meaning: string;
  /** Accepted values, as a fragment: `a whole number from 1 to 10`. */
  readonly accepts: string;
  /** Whether the value must never be shown. */
  readonly secret: boolean;
  /** Whether it is required at the start. */
  readonly required: boolean;
  /** The default as an operator would write it; undefined if there is none. */
  readonly defaultText: string | undefined;
  /** Reads the text of the variable; undefined if it is not set. Never throws. */
  read(text: string | undefined): SettingReading<T>;
  /** The fault of a value in combination with other settings, as a fragment. Absent: values are independent. */
  conflict?(value: T, around: Surroundings): string | undefined;
}

/** The settings of a service, by their names in code. */
export type SettingsShape = Readonly<Record<string, Setting<unknown>>>;

/** The values of a shape, typed. */
export type Config<S extends SettingsShape> = {
  readonly [Name in keyof S]: S[Name] extends Setting<infer T> ? T : never;
};

/** Options of a settings builder besides the name of the variable. */
interface SettingOptions<T> {
  /** Used if the variable is not set; without one the setting is required. */
  readonly default?: T;
  /** Purpose of the setting, as a sentence. */
  readonly meaning: string;
}

interface SettingDefinition<T> extends SettingOptions<T> {
  readonly env: string;
  readonly accepts: string;
  readonly secret?: boolean;
  /** Whether `NAME=` sets the empty text. Otherwise it counts as not set, as charts and compose files mean it. */
  readonly emptyIsValue?: boolean;
  /** Reads text that is set. */
  readonly parse: (text: string) => SettingReading<T>;
  /** The default as an operator would write it. */
  readonly format?: (value: T) => string;
}

/** A setting from its definition; all builders use it. */
const defineSetting = <T>(definition: SettingDefinition<T>): Setting<T> => {
  const { env, meaning, accepts, secret = false, emptyIsValue = false, format = String } = definition;
  const fallback = definition.default;
  return {
    env,
    meaning,
    accepts,
    secret,
    required: fallback === undefined,
    defaultText: fallback === undefined ? undefined : format(fallback),
    read: (text) => {
      if (text !== undefined && (text !== '' || emptyIsValue)) return definition.parse(text);
      return fallback === undefined ? { ok: false, fault: 'is not set' } : { ok: true, value: fallback };
    },
  };
};

/** The same setting, undefined if its variable is not set. */
export const optional = <T>(setting: Setting<T>): Setting<T | undefined> => ({
  ...setting,
  required: false,
  read: (text) => (text === undefined || text === '' ? { ok: true, value: undefined } : setting.read(text)),
});

const accepted = <T>(value: T): SettingReading<T> => ({ ok: true, value });
const refused = (fault: string): SettingReading<never> => ({ ok: false, fault });

interface TextOptions extends SettingOptions<string> {
  /** Pattern of the whole text. */
  readonly pattern?: RegExp;
  /** Words for the texts that the pattern accepts; default: the pattern itself. */
  readonly accepts?: string;
  /** Whether `NAME=` sets the empty text instead of counting as not set. Default false. */
  readonly emptyIsValue?: boolean;
}

export const text = (env: string, options: TextOptions): Setting<string> => {
  const { pattern, accepts = pattern === undefined ? 'any text' : `text that matches ${String(pattern)}` } = options;
  return defineSetting({
    ...options,
    env,
    accepts,
    parse: (value) => (pattern === undefined || pattern.test(value) ? accepted(value) : refused('has another form')),
    format: (value) => (value === '' ? '(empty)' : value),
  });
};

/** Path of a file or folder. */
export const filePath = (env: string, options: { readonly meaning: string }): Setting<string> =>
  text(env, { ...options, pattern: /^[^\0]{1,4096}$/s, accepts: 'a path' });

interface SecretOptions {
  readonly meaning: string;
  readonly minLength?: number;
  /** Pattern of the whole text. */
  readonly pattern?: RegExp;
  /** Words for the texts that the pattern accepts. */
  readonly accepts?: string;
}

/** A secret text. It has no default, since a publicly known secret is useless. */
export const secret = (env: string, options: SecretOptions): Setting<Secret> => {
  const { minLength = 1, meaning, pattern, accepts = 'a secret text' } = options;
  return defineSetting({
    env,
    meaning,
    accepts: minLength > 1 ? `${accepts} of at least ${minLength} characters` : accepts,
    secret: true,
    parse: (value) => {
      if (value.length < minLength) return refused(`has ${value.length} characters`);
      return pattern?.test(value) === false ? refused('has another form') : accepted(new Secret(value));
    },
  });
};

/** A part of something, 0 to 1. */
export const ratio = (env: string, options: SettingOptions<number>): Setting<number> =>
  defineSetting({
    ...options,
    env,
    accepts: 'a number from 0 to 1',
    parse: (value) =>
      /^(0?\.\d{1,15}|0|1(\.0+)?)$/.test(value) ? accepted(Number(value)) : refused('is not a number from 0 to 1'),
  });

/** `name=value` pairs as the environment writes them: separated by commas, special characters of values percent-encoded. */
export const PAIRS = {
  pattern: /^\s*[\w.-]+\s*=(?:[^,%]|%[0-9A-Fa-f]{2})*(,\s*[\w.-]+\s*=(?:[^,%]|%[0-9A-Fa-f]{2})*)*$/,
  accepts: 'name=value pairs, separated by commas',
} as const;

/** Reads text of the form {@link PAIRS}. */
export const parsePairs = (value: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    splitList(value).map((pair) => {
      const at = pair.indexOf('=');
      return [pair.slice(0, at).trim(), decodeValue(pair.slice(at + 1).trim())];
    }),
  );

const decodeValue = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

interface WholeNumberOptions extends SettingOptions<number> {
  readonly min: number;
  readonly max: number;
  readonly unit?: 'bytes' | 'ms' | 'count';
}

/** A whole number within bounds, in plain digits. */
export const wholeNumber = (env: string, options: WholeNumberOptions): Setting<number> => {
  const { min, max, unit = 'count' } = options;
  return defineSetting({
    ...options,
    env,
    accepts: `a whole number from ${min} to ${max}${unit === 'count' ? '' : ` (${unit})`}`,
    parse: (value) => {
      if (!/^-?\d{1,15}$/.test(value)) return refused('is not a whole number');
      const number = Number(value);
      if (number < min) return refused(`is below ${min}`);
      return number > max ? refused(`is above ${max}`) : accepted(number);
    },
  });
};

/** A limit of the catalogue in contracts. */
export const limit = ({ env, defaultValue, ...bounds }: Limit): Setting<number> =>
  wholeNumber(env, { ...bounds, default: defaultValue });

/** A TCP port; 0 lets the system choose one. */
export const port = (env: string, defaultPort: number): Setting<number> =>
  wholeNumber(env, {
    default: defaultPort,
    min: 0,
    max: 65_535,
    meaning: 'TCP port to listen on; 0 takes a free one.',
  });

const FLAG_WORDS: Readonly<Record<string, boolean>> = { true: true, '1': true, false: false, '0': false };

/** The same setting with an upper bound that depends on another one. `bound` computes it from the other's value; the error names both. */
export const bounded = (
  setting: Setting<number>,
  other: Setting<number>,
  bound: (other: number) => number,
): Setting<number> => ({
  ...setting,
  conflict: (value, { environment }) => {
    const reading = other.read(environment[other.env]);
    if (!reading.ok || value <= bound(reading.value)) return undefined;
    return `is above ${bound(reading.value)}, which ${other.env} of ${reading.value} leaves it: lower it or raise ${other.env}`;
  },
});

/** On or off; off if no default is given. */
export const flag = (env: string, options: SettingOptions<boolean>): Setting<boolean> =>
  defineSetting({
    ...options,
    env,
    default: options.default ?? false,
    accepts: '`true` or `false`',
    parse: (value) => {
      const word = value.toLowerCase();
      const found = Object.hasOwn(FLAG_WORDS, word) ? FLAG_WORDS[word] : undefined;
      return found === undefined ? refused('is neither true nor false') : accepted(found);
    },
  });

/** One of a few words. */
export const oneOf = <const T extends string>(
  env: string,
  values: readonly T[],
  options: SettingOptions<NoInfer<T>>,
): Setting<T> =>
  defineSetting<T>({
    ...options,
    env,
    accepts: `one of ${values.join(', ')}`,
    parse: (value) => {
      const found = values.find((candidate) => candidate === value);
      return found === undefined ? refused('is none of these') : accepted(found);
    },
  });

const MAX_LIST_ITEMS = 1_000;

interface ListOptions extends SettingOptions<readonly string[]> {
  /** Pattern of each item. */
  readonly pattern?: RegExp;
  /** Name of the items, in the plural: `host:port pairs`. Default `items`. */
  readonly items?: string;
}

/** A comma-separated list; blanks around items and empty items are dropped. At most 1,000 items. */
export const list = (env: string, options: ListOptions): Setting<readonly string[]> => {
  const { pattern, items = 'items' } = options;
  return defineSetting({
    ...options,
    env,
    accepts: `a comma-separated list of ${items}`,
    emptyIsValue: options.default?.length === 0,
    parse: (value) => checkList(splitList(value), pattern, options.default?.length === 0),
    format: (values) => (values.length === 0 ? '(empty)' : values.join(',')),
  });
};

const splitList = (value: string): string[] =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

const checkList = (
  items: readonly string[],
  pattern: RegExp | undefined,
  mayBeEmpty: boolean,
): SettingReading<readonly string[]> => {
  if (items.length === 0 && !mayBeEmpty) return refused('holds no item');
  if (items.length > MAX_LIST_ITEMS) return refused(`holds ${items.length} items, more than ${MAX_LIST_ITEMS}`);
  const wrong = pattern === undefined ? -1 : items.findIndex((item) => !pattern.test(item));
  return wrong < 0 ? accepted(items) : refused(`has another form at item ${wrong + 1}`);
};

interface UrlOptions extends SettingOptions<string> {
  /** Accepted protocols without the colon: `['postgres', 'postgresql']`. */
  readonly protocols: readonly string[];
}

/** An address. With `secret: true`, for addresses that carry a password, it is read as a {@link Secret} and never shown. */
export function url(env: string, options: UrlOptions & { readonly secret: true }): Setting<Secret>;
export function url(env: string, options: UrlOptions & { readonly secret?: false }): Setting<string>;
export function url(
  env: string,
  options: UrlOptions & { readonly secret?: boolean },
): Setting<string> | Setting<Secret> {
  const { protocols, meaning } = options;
  const definition = {
    env,
    meaning,
    accepts: `an address that begins with ${protocols.map((name) => `${name}://`).join(' or ')}`,
  };
  const parse = (text: string): SettingReading<string> => checkUrl(text, protocols);
  if (options.secret !== true) return defineSetting({ ...definition, default: options.default, parse });
  return defineSetting({
    ...definition,
    default: options.default === undefined ? undefined : new Secret(options.default),
    secret: true,
    parse: (text) => {
      const reading = parse(text);
      return reading.ok ? accepted(new Secret(reading.value)) : reading;
    },
  });
}

const checkUrl = (text: string, protocols: readonly string[]): SettingReading<string> => {
  if (!URL.canParse(text)) return refused('is not an address');
  const { protocol, hostname } = new URL(text);
  if (!protocols.includes(protocol.slice(0, -1))) return refused('begins with another protocol');
  return hostname === '' && protocol !== 'file:' ? refused('names no host') : accepted(text);
};
