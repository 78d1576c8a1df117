import { type CompiledFormula } from '@decision/expressions';
import { type PlannedOutput } from '../read/planned-table';
import { frozenCopy } from '../values/frozen-copy';

/** Marks an output without a value in a row, or a field without a default. */
export const NOTHING = Symbol('nothing');

/** The value of an output comes from a formula. */
export class FormulaCell {
  constructor(readonly formula: CompiledFormula) {}
}

/** The value of an output refers to values of the workspace; `current` is what they are now. */
export class ReferenceCell {
  current: unknown = null;

  constructor(readonly template: unknown) {}
}

/** {@link NOTHING}, a {@link FormulaCell}, a {@link ReferenceCell}, or any other value: that value, frozen. */
export type OutputCell = unknown;

export const outputCellOf = (planned: PlannedOutput | undefined): OutputCell => {
  switch (planned?.kind) {
    case undefined:
      return NOTHING;
    case 'constant':
      return frozenCopy(planned.value);
    case 'reference':
      return new ReferenceCell(frozenCopy(planned.template));
    case 'formula':
      return new FormulaCell(planned.formula);
  }
};
