import { scrubText } from '../logging/redact';
import { processSettings } from './service-settings';
import { type Config, type Setting, type SettingsShape } from './setting';

/** One bad value of the environment. */
interface ConfigFault {
  readonly env: string;
  /** The value, its fault and the accepted values, as one sentence without secrets. */
  readonly sentence: string;
}

/** The configuration is invalid. The message lists every bad value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(readonly faults: readonly ConfigFault[]) {
    const count = faults.length === 1 ? 'a fault' : `${faults.length} faults`;
    super([`The configuration has ${count}:`, ...faults.map(({ sentence }) => `  - ${sentence}`)].join('\n'));
  }
}

/**
 * Reads every setting of the shape once at the start. Throws {@link ConfigError} that lists every bad value at once: its name, what is
 * wrong with it and what is accepted.
 */
export const readConfig = <S extends SettingsShape>(shape: S, env: NodeJS.ProcessEnv): Config<S> => {
  const faults: ConfigFault[] = [];
  const values: Record<string, unknown> = {};
  const variables = Object.values({ ...shape, ...processSettings }).map((setting) => setting.env);
  for (const [name, setting] of Object.entries(shape)) {
    const text = env[setting.env];
    const reading = setting.read(text);
    const fault = reading.ok ? setting.conflict?.(reading.value, { variables, environment: env }) : reading.fault;
    if (fault !== undefined) faults.push({ env: setting.env, sentence: describeFault(setting, text, fault) });
    else if (reading.ok) values[name] = reading.value;
  }
  if (faults.length > 0) throw new ConfigError(faults);
  return values as Config<S>; // every name of the shape was read into `values` just above
};

const MAX_SHOWN = 100;

const describeFault = (setting: Setting<unknown>, text: string | undefined, fault: string): string =>
  `${setting.env}${show(setting, text)} ${fault}; accepted is ${setting.accepts}. ${setting.meaning}`;

const show = ({ secret }: Setting<unknown>, text: string | undefined): string => {
  if (text === undefined || text === '') return '';
  if (secret) return ' (a secret, not shown)';
  const shown = scrubText(text);
  return `=${JSON.stringify(shown.length > MAX_SHOWN ? `${shown.slice(0, MAX_SHOWN)}...` : shown)}`;
};

/** One row of a table of environment variables. */
interface SettingRow {
  readonly name: string;
  /** As an operator would write it; undefined if there is none. */
  readonly default: string | undefined;
  readonly required: boolean;
  readonly secret: boolean;
  readonly accepts: string;
  readonly meaning: string;
}

/** The rows of a table of environment variables for the documentation, in the order of the shape. */
export const describeSettings = (shape: SettingsShape): SettingRow[] =>
  Object.values(shape).map(({ env, defaultText, required, secret, accepts, meaning }) => ({
    name: env,
    default: defaultText,
    required,
    secret,
    accepts,
    meaning,
  }));

/** The table of a service's environment variables for the documentation, in Markdown: those of all processes last. */
export const settingsTable = (shape: SettingsShape): string =>
  [
    '| variable | default | accepts | meaning |',
    '| --- | --- | --- | --- |',
    ...describeSettings({ ...shape, ...processSettings }).map(
      (row) =>
        `| \`${row.name}\` | ${row.default ?? (row.required ? 'required' : 'not set')} | ${row.accepts}${row.secret ? ' (secret)' : ''} | ${row.meaning} |`,
    ),
  ].join('\n');
