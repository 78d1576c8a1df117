import { setImmediate } from 'node:timers/promises';
import { findSyntaxFault, type SyntaxFault } from '@decision/sandbox';
import { type FlowNode } from '@decision/contracts';

/** A problem of a flow or of its binding, as an import reports it. */
export interface FlowProblem {
  readonly code: string;
  readonly message: string;
  /** JSON pointer into the document. */
  readonly path: string;
  readonly ref?: string;
  /** Field of the node. */
  readonly field?: string;
}

/** Maximum number of faults that an import names. */
const MAX_FAULTS = 100;

/** Syntax errors in the code of nodes, with line and column. Other work of the process has its turn after each node. */
export const problemsOfCode = async (nodes: readonly FlowNode[]): Promise<readonly FlowProblem[]> => {
  const faults: FlowProblem[] = [];
  for (const [position, { ref, type, code }] of nodes.entries()) {
    if (type !== 'code' || typeof code !== 'string') continue;
    const fault = await findSyntaxFault(code);
    if (fault !== undefined) faults.push(toFault(ref, position, fault));
    if (faults.length >= MAX_FAULTS) break;
    await setImmediate();
  }
  return faults;
};

const toFault = (ref: string, position: number, { line, column, message }: SyntaxFault): FlowProblem => ({
  code: 'invalid_field',
  message: `The code of the node "${ref.slice(0, 100)}" cannot be read: ${message} (line ${line}, column ${column}).`,
  path: `/nodes/${position}/code`,
  ref,
  field: 'code',
});
