/** Result of reading one value: the value, or what is wrong with it as a fragment such as `is below 1`. */
export type SettingReading<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly fault: string };

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
  /** Whether a start without it is refused. */
  readonly required: boolean;
  /** The default as an operator would write it; undefined where there is none. */
  readonly defaultText: string | undefined;
  /** Reads the text of the variable; undefined where it is not set. Never throws. */
  read(text: string | undefined): SettingReading<T>;
}

/** The settings of a service, by their names in code. */
export type SettingsShape = Readonly<Record<string, Setting<unknown>>>;

/** The values of a shape, typed. */
export type Config<S extends SettingsShape> = {
  readonly [Name in keyof S]: S[Name] extends Setting<infer T> ? T : never;
};

/** Options of a builder of settings beside the name of the variable. */
export interface SettingOptions<T> {
  /** Used where the variable is not set; without one the setting is required. */
  readonly default?: T;
  /** Purpose of the setting, as a sentence. */
  readonly meaning: string;
}

interface SettingDefinition<T> extends SettingOptions<T> {
  readonly env: string;
  readonly accepts: string;
  readonly secret?: boolean;
  /** Whether `NAME=` sets the empty text. Else it counts as not set, which is what charts and compose files mean by it. */
  readonly emptyIsValue?: boolean;
  /** Reads text that is set. */
  readonly parse: (text: string) => SettingReading<T>;
  /** The default as an operator would write it. */
  readonly format?: (value: T) => string;
}

/** A setting from its definition; the builders are made of it. */
export const defineSetting = <T>(definition: SettingDefinition<T>): Setting<T> => {
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

/** The same setting, undefined where its variable is not set. */
export const optional = <T>(setting: Setting<T>): Setting<T | undefined> => ({
  ...setting,
  required: false,
  read: (text) => (text === undefined || text === '' ? { ok: true, value: undefined } : setting.read(text)),
});

export const accepted = <T>(value: T): SettingReading<T> => ({ ok: true, value });
export const refused = (fault: string): SettingReading<never> => ({ ok: false, fault });
