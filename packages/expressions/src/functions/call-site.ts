import { FormulaFault, type FormulaProblemCode } from '../formula-problem';
import { type CallNode, type Place } from '../syntax/nodes';
import { operandFault } from '../values/operand-fault';

/** One call in one formula: where its faults are reported. */
export class CallSite {
  readonly name: string;

  constructor(readonly node: CallNode) {
    this.name = node.name;
  }

  placeOf(index: number): Place {
    return this.node.arguments[index] ?? this.node;
  }

  /** Ends the run with a fault at the call, or at one argument of it. */
  fail(code: FormulaProblemCode, message: string, index?: number): never {
    throw new FormulaFault(code, `${this.name}: ${message}`, index === undefined ? this.node : this.placeOf(index));
  }

  /** Ends the run because an argument is of the wrong type, or is not there. */
  failType(index: number, expected: string, value: unknown): never {
    throw operandFault(`${this.name} needs ${expected}`, this.node.arguments[index] ?? this.node, value);
  }
}
