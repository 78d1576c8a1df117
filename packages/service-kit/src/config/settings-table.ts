import { describeSettings } from './describe-settings';
import { processSettings } from './service-settings';
import { type SettingsShape } from './setting';

/** The table of a service's environment variables for the documentation, in Markdown: those of every process last. */
export const settingsTable = (shape: SettingsShape): string =>
  [
    '| variable | default | accepts | meaning |',
    '| --- | --- | --- | --- |',
    ...describeSettings({ ...shape, ...processSettings }).map(
      (row) =>
        `| \`${row.name}\` | ${row.default ?? (row.required ? 'required' : 'not set')} | ${row.accepts}${row.secret ? ' (secret)' : ''} | ${row.meaning} |`,
    ),
  ].join('\n');
