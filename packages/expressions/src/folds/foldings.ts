import { compileFormula } from '../compile/compile-formula';
import { CallSite } from '../functions/call-site';
import {
  AverageReduction,
  ExtremeReduction,
  isGreater,
  isLess,
  type Reduction,
  SumReduction,
} from '../functions/reductions';
import { type CompiledFormula } from '../run/run';
import { type CallNode, type FormulaNode } from '../syntax/nodes';
import { AllReduction, AnyReduction, type PieceReduction, TallyReduction } from './piece-reductions';

interface CallParts {
  readonly call: CallNode;
  readonly list: FormulaNode;
  /** A lambda, or a selector in quotes. */
  readonly selector: FormulaNode | undefined;
  /** Text of the formula that has the call. */
  readonly text: string;
}

/** How an aggregate is computed from pieces of its list: what is made of each piece, and what is made of that. */
interface Folding {
  readonly prepare: (parts: CallParts) => CompiledFormula;
  readonly reduce: (call: CallNode) => PieceReduction;
}

/** The values of the piece's elements go to the reduction that the call itself uses. */
const ofValues = (make: (site: CallSite) => Reduction): Folding => ({
  prepare: ({ call, list, selector, text }) => {
    const root = selector === undefined ? list : { ...call, name: 'map', arguments: [list, selector] };
    return compileFormula({ text, root });
  },
  reduce: (call) => {
    const reduction = make(new CallSite(call));
    return {
      addPiece: (made) => {
        reduction.add(made as readonly unknown[]); // what elementwise functions make of a list
        return false;
      },
      result: () => reduction.result(),
    };
  },
});

/** The call is applied to each piece, and the answers are joined. */
const ofAnswers = (make: () => PieceReduction): Folding => ({
  prepare: ({ call, text }) => compileFormula({ text, root: call }),
  reduce: make,
});

/** By the name of the function. */
export const foldings: ReadonlyMap<string, Folding> = new Map([
  ['sum', ofValues((site) => new SumReduction(site))],
  ['avg', ofValues((site) => new AverageReduction(site))],
  ['average', ofValues((site) => new AverageReduction(site))],
  ['min', ofValues((site) => new ExtremeReduction(site, isLess))],
  ['max', ofValues((site) => new ExtremeReduction(site, isGreater))],
  ['count', ofAnswers(() => new TallyReduction())],
  ['length', ofAnswers(() => new TallyReduction())],
  ['any', ofAnswers(() => new AnyReduction())],
  ['all', ofAnswers(() => new AllReduction())],
]);
