import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { settingsTable } from '@decision/service-kit';
import { settings } from './config';

it('is documented as it is', () => {
  const page = readFileSync(join(__dirname, '../../../docs/configuration.md'), 'utf8');
  expect(page).toContain(`## contexts-api\n\n${settingsTable(settings)}\n`);
});
