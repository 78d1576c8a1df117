import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LaunchError } from '../launch-error';

/** One file of a workspace. */
export interface WorkspaceFile {
  /** Path within the workspace, `rules/shipping-price.json`. */
  readonly file: string;
  readonly content: Readonly<Record<string, unknown>>;
}

const SCRIPT_DEADLINE_MS = 30_000;
const MAX_SCRIPT_OUTPUT_BYTES = 64 * 1024 * 1024;
const READABLE = /\.(json|mjs)$/;

/**
 * The files of one folder of a workspace, by name: JSON files, and scripts that print one. Empty if there is no such folder. Throws {@link
 * LaunchError} for a file that is not a JSON object.
 */
export const readWorkspaceFolder = (workspace: string, folder: string): readonly WorkspaceFile[] => {
  const directory = join(workspace, folder);
  if (!existsSync(directory)) return [];
  return readdirSync(directory)
    .filter((name) => READABLE.test(name))
    .sort()
    .map((name) => ({ file: `${folder}/${name}`, content: contentOf(join(directory, name), `${folder}/${name}`) }));
};

const contentOf = (path: string, file: string): WorkspaceFile['content'] => {
  const content = parse(textOf(path, file), file);
  if (isObject(content)) return content;
  throw new LaunchError(`The file ${file} holds no JSON object.`);
};

const textOf = (path: string, file: string): string => {
  if (path.endsWith('.json')) return readFileSync(path, 'utf8');
  try {
    return execFileSync(process.execPath, [path], {
      encoding: 'utf8',
      timeout: SCRIPT_DEADLINE_MS,
      maxBuffer: MAX_SCRIPT_OUTPUT_BYTES,
    });
  } catch (cause) {
    throw new LaunchError(`The script ${file} printed no JSON: ${reasonOf(cause)}`, { cause });
  }
};

const parse = (text: string, file: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new LaunchError(`The file ${file} holds no JSON: ${reasonOf(cause)}`, { cause });
  }
};

/** Whether a value is a JSON object: neither null nor a list. */
export const isObject = (value: unknown): value is WorkspaceFile['content'] =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const reasonOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));
