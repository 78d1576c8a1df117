import { workspaces } from './0001-workspaces';
import { apiKeys } from './0002-api-keys';
import { rules } from './0003-rules';
import { values } from './0004-values';
import { objects } from './0005-objects';
import { releases } from './0006-releases';
import { ruleTests } from './0007-rule-tests';
import { announcements } from './0008-announcements';
import { audit } from './0009-audit';
import { administration } from './0010-administration';
import { usage } from './0011-usage';
import { owedAnnouncements } from './0012-owed-announcements';
import { contexts } from './0013-contexts';
import { contextForeignKeys } from './0014-context-foreign-keys';
import { visibility } from './0015-visibility';
import { deploymentSecrets } from './0016-deployment-secrets';
import { contextCreators } from './0017-context-creators';
import { workerFloors } from './0018-worker-floors';
import { contextRemovals } from './0019-context-removals';
import { auditOfTwo } from './0020-audit-of-two';
import { untoldReaders } from './0021-untold-readers';
import { stepsByIndex } from './0022-steps-by-index';
import { sweepsFromInstances } from './0023-sweeps-from-instances';
import { valueLookUps } from './0024-value-look-ups';
import { assets } from './0025-assets';
import { entityWrites } from './0026-entity-writes';
import { notifications } from './0028-notifications';
import { decisionLog } from './0030-decision-log';
import { contextLogging } from './0033-context-logging';
import { decisionLogErasure } from './0032-decision-log-erasure';
import { decisionLogPlaces } from './0031-decision-log-places';
import { people } from './0034-people';
import { mailedLinks } from './0037-mailed-links';
import { valueHashes } from './0038-value-hashes';
import { sizeOfInstances } from './0039-size-of-instances';
import { localSignIn } from './0035-local-sign-in';
import { type Migration } from './migration';

/** Every migration, in order. */
export const allMigrations: readonly Migration[] = [
  workspaces,
  apiKeys,
  rules,
  values,
  objects,
  releases,
  ruleTests,
  announcements,
  audit,
  administration,
  usage,
  owedAnnouncements,
  contexts,
  contextForeignKeys,
  visibility,
  deploymentSecrets,
  contextCreators,
  workerFloors,
  contextRemovals,
  auditOfTwo,
  untoldReaders,
  stepsByIndex,
  sweepsFromInstances,
  valueLookUps,
  assets,
  entityWrites,
  notifications,
  decisionLog,
  decisionLogPlaces,
  decisionLogErasure,
  contextLogging,
  people,
  localSignIn,
  mailedLinks,
  valueHashes,
  sizeOfInstances,
];

/** Table of the applied migrations. */
export const migrationTable = 'schema_migrations';
