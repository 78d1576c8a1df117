import { settingsTable } from '@decision/service-kit';
import { writtenPart } from '@decision/tooling/written-part';
import { settings } from './config';

it('docs/configuration.md says what the service reads', () => {
  const table = settingsTable(settings);
  expect(writtenPart('configuration.md', 'settings of auth-proxy-adapter', table)).toBe(table);
});
