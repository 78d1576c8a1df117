import { type Limit } from '@decision/contracts';
import { Secret } from './secret';
import { accepted, defineSetting, refused, type Setting, type SettingOptions, type SettingReading } from './setting';

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

/** A secret text. It has no default: a secret that everybody knows is none. */
export const secret = (
  env: string,
  options: { readonly meaning: string; readonly minLength?: number },
): Setting<Secret> => {
  const { minLength = 1, meaning } = options;
  return defineSetting({
    env,
    meaning,
    accepts: minLength > 1 ? `a secret text of at least ${minLength} characters` : 'a secret text',
    secret: true,
    parse: (value) =>
      value.length < minLength ? refused(`has ${value.length} characters`) : accepted(new Secret(value)),
  });
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

/** On or off; off where no default is given. */
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
