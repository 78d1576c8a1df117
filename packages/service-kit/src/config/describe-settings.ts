import { type SettingsShape } from './setting';

/** One row of a table of environment variables. */
interface SettingRow {
  readonly name: string;
  /** As an operator would write it; undefined where there is none. */
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
