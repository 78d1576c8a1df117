import { listAudit } from './audit';
import { contextOperations } from './context-operations';
import { folderOperations } from './folders';
import { instanceOperations } from './instance-operations';
import { keyOperations } from './key-operations';
import { objectOperations } from './object-operations';
import { type Operation } from './operation';
import { listOperators } from './operator-operations';
import { releaseOperations } from './release-operations';
import { roleOperations } from './roles';
import { ruleOperations } from './rule-operations';
import { ruleTestOperations } from './rule-test-operations';
import { scaleOperations } from './scale';
import { solveOperations } from './solve-operations';
import { systemOperations } from './system';
import { getUsage } from './usage';
import { userOperations } from './user-operations';
import { valueOperations } from './value-operations';

/** Every call of the API, in the order of the document. */
export const operations: readonly Operation[] = [
  ...solveOperations,
  ...scaleOperations,
  ...ruleOperations,
  listOperators,
  ...ruleTestOperations,
  ...releaseOperations,
  ...objectOperations,
  ...valueOperations,
  ...contextOperations,
  ...instanceOperations,
  ...keyOperations,
  ...folderOperations,
  ...userOperations,
  ...roleOperations,
  getUsage,
  listAudit,
  ...systemOperations,
];
