import {
  type Database,
  type DatabaseSettings,
  ensureWorkspace,
  openDatabase,
  type Transaction,
  type WorkspaceAccess,
} from '../src';
import { migratedDatabase } from './migrations/fresh-database';

/** A separate migrated database with one workspace, opened as services do. */
export interface TestWorkspace {
  readonly url: string;
  readonly database: Database;
  /** Unrestricted access to the workspace. */
  readonly access: WorkspaceAccess;
  /** The same workspace, restricted to these groups. */
  restrictedTo(...userGroups: readonly string[]): WorkspaceAccess;
  /** Another workspace of the same database. */
  addWorkspace(slug: string): Promise<WorkspaceAccess>;
  /** A second pool on the same database. */
  open(settings?: Partial<DatabaseSettings>): Database;
  close(): Promise<void>;
}

export const openTestWorkspace = async (label: string): Promise<TestWorkspace> => {
  const { url, drop } = await migratedDatabase(label);
  const { id: workspaceId } = await ensureWorkspace(url, { slug: 'main', name: 'Main' });
  const access: WorkspaceAccess = { workspaceId, userGroups: undefined, actor: 'tester' };
  const opened: Database[] = [];
  const open = (settings: Partial<DatabaseSettings> = {}): Database => {
    // Patient unless a test sets other limits: most tests do not depend on how soon a busy machine answers.
    const patience = { statementTimeoutMs: 100_000, acquireTimeoutMs: 60_000, connectTimeoutMs: 30_000 };
    const database = openDatabase({ url, applicationName: 'persistence-test', poolMax: 4, ...patience, ...settings });
    opened.push(database);
    return database;
  };
  return {
    url,
    database: open(),
    access,
    restrictedTo: (...userGroups) => ({ ...access, userGroups }),
    addWorkspace: async (slug) => ({
      workspaceId: (await ensureWorkspace(url, { slug, name: slug })).id,
      userGroups: undefined,
      actor: 'stranger',
    }),
    open,
    close: async () => {
      await Promise.all(opened.map((database) => database.close()));
      await drop();
    },
  };
};

/** The workspace that all tests of a file share. */
export interface SharedTestWorkspace extends Omit<TestWorkspace, 'close'> {
  /** Runs work in a transaction of the workspace, with unrestricted access. */
  inside<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
}

/** Opens a workspace before the tests of the file and closes it after them; usable from the first hook on. */
export const useTestWorkspace = (label: string): SharedTestWorkspace => {
  let opened: TestWorkspace | undefined;
  const workspace = (): TestWorkspace => {
    if (opened === undefined) throw new Error('The workspace is opened before the first test.');
    return opened;
  };
  beforeAll(async () => {
    opened = await openTestWorkspace(label);
  });
  afterAll(() => opened?.close());
  return {
    get url() {
      return workspace().url;
    },
    get database() {
      return workspace().database;
    },
    get access() {
      return workspace().access;
    },
    restrictedTo: (...userGroups) => workspace().restrictedTo(...userGroups),
    addWorkspace: (slug) => workspace().addWorkspace(slug),
    open: (settings) => workspace().open(settings),
    inside: (work) => workspace().database.inWorkspace(workspace().access, work),
  };
};
