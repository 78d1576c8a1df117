import { type Transaction } from '../connection/query';
import {
  type AssetChanges,
  type AssetName,
  deleteAsset,
  findAsset,
  insertAsset,
  lockAsset,
  type NewAsset,
  updateAsset,
} from './assets';
import { publishAsset, unpublishAsset } from './publish-asset';

export type NewRule = NewAsset<'rule'>;
export type RuleChanges = AssetChanges<'rule'>;

/** The functions of assets, for rules. */
export const findRule = (transaction: Transaction, name: AssetName) => findAsset(transaction, 'rule', name);
export const lockRule = (transaction: Transaction, name: AssetName) => lockAsset(transaction, 'rule', name);
export const insertRule = (transaction: Transaction, rule: NewRule) => insertAsset(transaction, 'rule', rule);
export const updateRule = (
  transaction: Transaction,
  id: string,
  changes: RuleChanges,
  conditions?: Parameters<typeof updateAsset>[4],
) => updateAsset(transaction, 'rule', id, changes, conditions);
export const deleteRule = (transaction: Transaction, id: string) => deleteAsset(transaction, 'rule', id);
export const publishRule = (transaction: Transaction, id: string, version: { readonly versionId: string }) =>
  publishAsset(transaction, 'rule', id, version);
export const unpublishRule = (transaction: Transaction, id: string) => unpublishAsset(transaction, 'rule', id);
