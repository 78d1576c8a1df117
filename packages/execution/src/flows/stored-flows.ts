import { type Cache, createAssetDirectory } from '@decision/cache';
import {
  type Database,
  findAssetPointer,
  findNumberedVersion,
  loadAssetInterface,
  loadFlowVersion,
  type Transaction,
} from '@decision/persistence';
import { type RuleLibrary } from '../rule-library';
import { type RuleSources } from './compile-stored-flow';
import { createFlowLibrary, type FlowLibrary, type FlowLibraryOptions } from './flow-library';

/** The flows that a database holds, with the rules that they run. */
export const createStoredFlows = (
  database: Database,
  cache: Cache,
  rules: Pick<RuleLibrary, 'open'>,
  { onCompiled, ...options }: FlowLibraryOptions & Pick<RuleSources, 'onCompiled'>,
): FlowLibrary => {
  // Permission to run a flow was checked before, so its dependencies are read regardless of groups.
  const read = <T>(workspaceId: string, work: (transaction: Transaction) => Promise<T>): Promise<T> =>
    database.inWorkspace({ workspaceId, userGroups: undefined }, work);
  const directory = createAssetDirectory(cache, {
    findPointer: (workspaceId, kind, slug) =>
      read(workspaceId, (transaction) => findAssetPointer(transaction, kind, slug)),
    findNumberedVersion: (workspaceId, assetId, number) =>
      read(workspaceId, (transaction) => findNumberedVersion(transaction, assetId, number)),
  });
  return createFlowLibrary(
    cache,
    {
      ...{ rules, directory, onCompiled },
      loadDefinition: async (workspaceId, versionId) =>
        (await read(workspaceId, (transaction) => loadFlowVersion(transaction, versionId)))?.definition,
      describeRule: (workspaceId, versionId) =>
        read(workspaceId, (transaction) => loadAssetInterface(transaction, versionId)),
    },
    options,
  );
};
