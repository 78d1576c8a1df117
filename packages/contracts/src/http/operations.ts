import { keyOperations } from './key-operations';
import { objectOperations } from './object-operations';
import { type Operation } from './operation';
import { listOperators } from './operator-operations';
import { releaseOperations } from './release-operations';
import { ruleOperations } from './rule-operations';
import { ruleTestOperations } from './rule-test-operations';
import { solveOperations } from './solve-operations';
import { valueOperations } from './value-operations';

/** Every call of the API, in the order of the document. */
export const operations: readonly Operation[] = [
  ...solveOperations,
  ...ruleOperations,
  listOperators,
  ...ruleTestOperations,
  ...releaseOperations,
  ...objectOperations,
  ...valueOperations,
  ...keyOperations,
];
