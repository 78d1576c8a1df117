import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type RuleImport } from '@decision/contracts';
import { LaunchError } from '../launch-error';

/** One file of `examples/`: the body of an import, whose rule says what it answers to its sample. */
export interface Example {
  readonly file: string;
  readonly rule: RuleImport;
}

/** The examples of a checkout, by file name. */
export const readExamples = (root: string): readonly Example[] =>
  readdirSync(join(root, 'examples'))
    .filter((file) => file.endsWith('.json'))
    .sort()
    .map((file) => ({
      file,
      ...(JSON.parse(readFileSync(join(root, 'examples', file), 'utf8')) as { rule: RuleImport }),
    })); // our own files; the import checks them

/** Imports and publishes every example through the API, as any client would. Throws {@link LaunchError} with the API's answer. */
export const seedExamples = async (root: string, baseUrl: string, apiKey: string): Promise<readonly string[]> => {
  const seeded: string[] = [];
  for (const { file, rule } of readExamples(root)) {
    const response = await fetch(`${baseUrl}/api/v1/admin/rules/import`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': apiKey },
      body: JSON.stringify({ rule: { ...rule, _publish: true } }),
      signal: AbortSignal.timeout(30_000),
    });
    if (!response.ok)
      throw new LaunchError(`The example ${file} was refused: ${response.status} ${await response.text()}`);
    seeded.push(rule.slug ?? file);
  }
  return seeded;
};
