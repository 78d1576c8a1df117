import { type WorkspaceClient } from './workspace-client';
import { type WorkspaceFile } from './workspace-files';

/** How the files of one folder become assets of a workspace. */
export interface Importer {
  readonly folder: string;
  /** Fault of a file, found before anything is sent; undefined if there is none. */
  readonly faultOf: (content: WorkspaceFile['content']) => string | undefined;
  /** Writes the assets of one file, by the names and ids in it, so that doing so again makes no second one. Answers what was written, in words. */
  readonly write: (client: WorkspaceClient, content: WorkspaceFile['content']) => Promise<string>;
  /** Does to the assets of one file what needs those of every file of the folder, once they are written. */
  readonly complete?: (client: WorkspaceClient, content: WorkspaceFile['content']) => Promise<void>;
}

export const isObject = (value: unknown): value is WorkspaceFile['content'] =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
