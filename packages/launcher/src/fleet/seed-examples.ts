import { join } from 'node:path';
import { type RuleImport } from '@decision/contracts';
import { importWorkspace } from '../workspace/import-workspace';
import { readWorkspaceFolder } from '../workspace/workspace-files';

/** One example: the body of an import, whose rule says what it answers to its sample. */
export interface Example {
  readonly file: string;
  readonly rule: RuleImport;
}

const starterOf = (root: string): string => join(root, 'examples/starter');

/** The example rules of a checkout, by file name. */
export const readExamples = (root: string): readonly Example[] =>
  readWorkspaceFolder(starterOf(root), 'rules').map(({ file, content }) => ({
    file,
    rule: content['rule'] as RuleImport, // our own files; the import checks them
  }));

/** Imports the workspace that comes with a checkout and answers the slugs of its rules. Throws `LaunchError` with the API's answer. */
export const seedExamples = async (root: string, baseUrl: string, apiKey: string): Promise<readonly string[]> => {
  await importWorkspace({ directory: starterOf(root), baseUrl, apiKey });
  return readExamples(root).map(({ file, rule }) => rule.slug ?? file);
};
