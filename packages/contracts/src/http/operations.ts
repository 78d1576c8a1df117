import { keyOperations } from './key-operations';
import { type Operation } from './operation';
import { ruleOperations } from './rule-operations';
import { solveOperations } from './solve-operations';

/** Every call of the API, in the order of the document. */
export const operations: readonly Operation[] = [...solveOperations, ...ruleOperations, ...keyOperations];
