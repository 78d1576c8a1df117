import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type RuleImport } from '@decision/contracts';
import { LaunchError } from '../launch-error';

/** One example: the values that its rule refers to, and the body of an import, whose rule says what it answers to its sample. */
export interface Example {
  readonly file: string;
  readonly values?: Readonly<Record<string, unknown>>;
  readonly rule: RuleImport;
}

const SCRIPT_DEADLINE_MS = 30_000;
const MAX_SCRIPT_OUTPUT_BYTES = 64 * 1024 * 1024;

/** The examples of a checkout, by file name: JSON files, and scripts that print one. */
export const readExamples = (root: string): readonly Example[] =>
  readdirSync(join(root, 'examples'))
    .filter((file) => /\.(json|mjs)$/.test(file))
    .sort()
    .map((file) => ({ file, ...(JSON.parse(textOf(join(root, 'examples', file))) as Omit<Example, 'file'>) })); // our own files; the import checks them

const textOf = (path: string): string =>
  path.endsWith('.json')
    ? readFileSync(path, 'utf8')
    : execFileSync(process.execPath, [path], {
        encoding: 'utf8',
        timeout: SCRIPT_DEADLINE_MS,
        maxBuffer: MAX_SCRIPT_OUTPUT_BYTES,
      });

/** Imports and publishes every example through the API, as any client would. Throws {@link LaunchError} with the API's answer. */
export const seedExamples = async (root: string, baseUrl: string, apiKey: string): Promise<readonly string[]> => {
  const post = async (file: string, path: string, body: object): Promise<void> => {
    const response = await fetch(`${baseUrl}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': apiKey },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(30_000),
    });
    const answer = await response.text();
    if (!response.ok) throw new LaunchError(`The example ${file} was refused: ${response.status} ${answer}`);
  };
  const seeded: string[] = [];
  for (const { file, rule, values } of readExamples(root)) {
    if (values !== undefined) await post(file, '/api/v1/values', { values });
    await post(file, '/api/v1/admin/rules/import', { rule: { ...rule, _publish: true } });
    seeded.push(rule.slug ?? file);
  }
  return seeded;
};
