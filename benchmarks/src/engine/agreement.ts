import { type RuleTable } from '@decision/contracts';
import { type CompiledRule, evaluateRule } from '@decision/engine';
import { handWritten } from './hand-written';

interface Comparison {
  readonly indexed: CompiledRule;
  readonly scanned: CompiledRule;
  readonly inputs: readonly Readonly<Record<string, unknown>>[];
}

/** Number of inputs for which the answer of the index, or of the hand-written lookup, differs from that of the scan, the reference. */
export const countDisagreements = (table: RuleTable, { indexed, scanned, inputs }: Comparison): number => {
  const lookup = handWritten(table);
  const options = { now: 0 };
  return inputs.filter((input) => {
    const reference = evaluateRule(scanned, input, options);
    const row = reference.ok ? (reference.matched[0] ?? -1) : undefined;
    return lookup(input) !== row || JSON.stringify(evaluateRule(indexed, input, options)) !== JSON.stringify(reference);
  }).length;
};
