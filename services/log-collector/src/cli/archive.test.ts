import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lookAfterArchive } from './archive';

const folder = mkdtempSync(join(tmpdir(), 'archive-command-'));
afterAll(() => rmSync(folder, { recursive: true }));
const ARCHIVE_URL = `file://${join(folder, 'archive')}`;
const key = join(folder, 'key.pem');
writeFileSync(key, generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' }));
const run = async (args: readonly string[], environment: Readonly<Record<string, string>> = { ARCHIVE_URL }) => {
  const lines: string[] = [];
  const code = await lookAfterArchive(environment, args, (line) => lines.push(line));
  return { code, text: lines.join('\n') };
};

describe('the command archive', () => {
  it.each([
    ['no command', [], /Say what to do: verify --key/],
    ['a command that is none', ['toString'], /Say what to do/],
    ['no key', ['verify'], /--key names the file/],
    ['an option that is none', ['verify', '--keys', key], /'--keys'.*Usage/],
    ['a date that is none', ['verify', '--key', key, '--from', 'monday'], /"monday" is no date/],
    ['a key that is not there', ['verify', '--key', join(folder, 'none.pem')], /cannot be read \(ENOENT\)/],
    ['a key that is none', ['verify', '--key', __filename], /no key in PEM/],
  ])('refuses %s', async (_, args, sentence) => {
    const { code, text } = await run(args);
    expect(text).toMatch(sentence);
    expect(code).toBe(2);
  });

  it.each([
    ['no archive', {}, /ARCHIVE_URL is not set/],
    ['an address of another kind', { ARCHIVE_URL: 'http://127.0.0.1/' }, /ARCHIVE_URL/],
    ['days that are none', { ARCHIVE_URL, ARCHIVE_RETENTION_DAYS: 'x' }, /ARCHIVE_RETENTION_DAYS/],
  ])('refuses %s in the environment', async (_, environment, sentence) => {
    const { code, text } = await run(['verify', '--key', key], environment);
    expect(text).toMatch(sentence);
    expect(code).toBe(2);
  });

  it('fails if nothing was signed', async () => {
    expect(await run(['verify', '--key', key])).toEqual({
      code: 1,
      text: 'There is no signed manifest. ARCHIVE_SIGNING_KEY has collectors make one a day.',
    });
  });
});
