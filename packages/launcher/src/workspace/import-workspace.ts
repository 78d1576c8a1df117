import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type RuleImport } from '@decision/contracts';
import { LaunchError } from '../launch-error';
import { createWorkspaceClient, importers, type WorkspaceAddress } from './importers';
import { readWorkspaceFolder } from './workspace-files';

interface ImportWorkspaceOptions extends WorkspaceAddress {
  /** Folder that holds the workspace. */
  readonly directory: string;
  /** Called for each file with a description of the assets written. */
  readonly onWritten?: (file: string, what: string) => void;
}

const MAX_SHOWN_FAULTS = 20;

/**
 * Writes a workspace kept as files through the API, like any client. Every file is read and checked before the first is sent; an
 * interrupted import can be repeated as a whole. Throws {@link LaunchError} that names the file.
 */
export const importWorkspace = async ({
  directory,
  onWritten = () => undefined,
  ...address
}: ImportWorkspaceOptions): Promise<void> => {
  const folders = readChecked(directory);
  const client = createWorkspaceClient(address);
  for (const { importer, files } of folders) {
    for (const { file, content } of files) {
      onWritten(file, await importer.write(client, content).catch(refuse(file)));
    }
    for (const { file, content } of files) await importer.complete?.(client, content).catch(refuse(file));
  }
};

/** Names the file that the API refused. */
const refuse =
  (file: string) =>
  (cause: unknown): never => {
    throw cause instanceof LaunchError ? new LaunchError(`${file} was refused: ${cause.message}`, { cause }) : cause;
  };

const readChecked = (directory: string) => {
  requireKnownFolders(directory);
  const folders = importers.map((importer) => ({ importer, files: readWorkspaceFolder(directory, importer.folder) }));
  const faults = folders.flatMap(({ importer, files }) =>
    files.flatMap(({ file, content }) => {
      const fault = importer.faultOf(content);
      return fault === undefined ? [] : [`${file} ${fault}.`];
    }),
  );
  if (faults.length > 0) throw new LaunchError(faults.slice(0, MAX_SHOWN_FAULTS).join('\n'));
  if (folders.every(({ files }) => files.length === 0)) throw new LaunchError(`${directory} holds nothing to import.`);
  return folders;
};

/** A misspelt folder must not be taken for an empty one. */
const requireKnownFolders = (directory: string): void => {
  const known = importers.map(({ folder }) => folder);
  if (!existsSync(directory)) throw new LaunchError(`There is no folder ${directory}.`);
  const strangers = readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !known.includes(entry.name))
    .map(({ name }) => name);
  if (strangers.length === 0) return;
  throw new LaunchError(`${directory} has the folder ${strangers.join(', ')}; a workspace has ${known.join(', ')}.`);
};

/** One example: the body of an import; its rule contains a sample request and the expected response. */
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

/** An example flow: the body of an import, a request and the answer that its published version gives. */
interface FlowExample {
  readonly flow: Readonly<Record<string, unknown>> & { readonly slug: string };
  readonly sampleRequest: Readonly<Record<string, unknown>>;
  readonly sampleResponse: Readonly<Record<string, unknown>>;
}

/** The example flows of a checkout, by file name. */
export const readFlowExamples = (root: string): readonly FlowExample[] =>
  readWorkspaceFolder(starterOf(root), 'flows').map(({ content }) => content as unknown as FlowExample); // our own files

/** Imports the example workspace of a checkout and answers the slugs of its rules and flows. Throws `LaunchError` with the API's answer. */
export const seedExamples = async (root: string, baseUrl: string, apiKey: string): Promise<readonly string[]> => {
  await importWorkspace({ directory: starterOf(root), baseUrl, apiKey });
  const rules = readExamples(root).map(({ file, rule }) => rule.slug ?? file);
  return [...rules, ...readFlowExamples(root).map(({ flow }) => flow.slug)];
};
