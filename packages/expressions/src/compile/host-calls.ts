import { FormulaFault } from '../formula-problem';
import { faultOfCount } from '../functions/arguments';
import { type Evaluate, type HostFunction } from '../run/run';
import { type CallNode } from '../syntax/nodes';

/** A call of a function that the host adds, which is found by name when the formula runs. */
export const compileHostCall =
  (node: CallNode, given: readonly Evaluate[]): Evaluate =>
  (run) => {
    const called = run.hostFunctions?.get(node.name);
    if (called === undefined) throw new FormulaFault('unknown_function', `no function is named ${node.name}`, node);
    const countFault = faultOfCount(node.name, given.length, called);
    if (countFault !== undefined) throw new FormulaFault('wrong_argument_count', countFault, node);
    return callHost(called, given.map((evaluate) => evaluate(run)), node) ?? null; // prettier-ignore
  };

const callHost = ({ call }: HostFunction, values: readonly unknown[], node: CallNode): unknown => {
  try {
    return call(values);
  } catch (error) {
    if (error instanceof FormulaFault) {
      throw new FormulaFault(error.code, `${node.name}: ${error.message}`, node, error.inner);
    }
    throw new FormulaFault('host_failure', `${node.name} failed`, node, undefined, { cause: error });
  }
};
