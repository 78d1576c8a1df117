import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Description of the running stack, for people and tools on the same machine. */
export interface Connection {
  readonly base_url: string;
  readonly api_key: string;
  readonly services: Readonly<Record<string, { readonly url: string; readonly pid: number | undefined }>>;
  readonly database_url: string;
  readonly cache_url: string;
  readonly mq_brokers: string;
  /** Environment of a service that joins. */
  readonly service_environment: Readonly<Record<string, string>>;
}

/** Writes a file that holds secrets: whole or not at all, readable by its owner only. */
export const writePrivateJson = (path: string, content: unknown): void => {
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}.tmp`;
  writeFileSync(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, path);
};

/** The connection of what runs, or undefined where nothing does. */
export const readConnection = (path: string): Connection | undefined => readPrivateJson(path) as Connection | undefined; // written by the same release

/** Content of such a file, or undefined where it is absent or damaged. */
export const readPrivateJson = (path: string): unknown => {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
};

export const removeFile = (path: string): void => rmSync(path, { force: true });
