import { type Cache } from '@decision/cache';
import {
  type Database,
  findValueRevision,
  loadValues,
  loadVersion,
  measureVersion,
  type WorkspaceAccess,
} from '@decision/persistence';
import { createRuleLibrary, type RuleLibrary, type RuleLibraryOptions } from './rule-library';
import { createValueDirectory, type ValueDirectoryOptions } from './value-directory';

/** The rules that a database holds, with the values to which they refer. */
export const createStoredRules = (
  database: Database,
  cache: Cache,
  options: RuleLibraryOptions & ValueDirectoryOptions,
): RuleLibrary => {
  const values = createValueDirectory(
    cache,
    {
      findRevision: (workspaceId) => database.inWorkspace(everything(workspaceId), findValueRevision),
      load: (workspaceId, ids) =>
        database.inWorkspace(everything(workspaceId), (transaction) => loadValues(transaction, ids)),
    },
    options,
  );
  const loadTable = (workspaceId: string, versionId: string) =>
    database.inWorkspace(everything(workspaceId), (transaction) => loadVersion(transaction, versionId));
  const measureTable = (workspaceId: string, versionId: string) =>
    database.inWorkspace(everything(workspaceId), (transaction) => measureVersion(transaction, versionId));
  return createRuleLibrary(cache, { values, loadTable, measureTable }, options);
};

/** Whoever may ask for a rule was decided before: its tables and values are read without regard to groups. */
const everything = (workspaceId: string): WorkspaceAccess => ({ workspaceId, userGroups: undefined });
