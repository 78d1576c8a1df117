import { contextLimits } from '@decision/contracts';
import { type Fold, FormulaFault, type FormulaProblemCode } from '@decision/expressions';
import { type ContextModel } from '../definitions/context-model';
import { type RelationAggregate } from '../definitions/separate-aggregates';
import { type Facts } from '../facts/facts';

/** Answer of an aggregate over related instances, or the reason for its failure. */
type AggregateAnswer =
  { readonly value: unknown } | { readonly error: { readonly code: string; readonly message: string } };

/** Aggregates over the instances of one `has_many` relationship. */
interface RelationAggregates {
  /** Number of instances; if the list is too long, possibly only the number that was read. */
  readonly instances: number;
  /** Bytes that were read, if they exceed {@link contextLimits.relatedBytes} and there is no list; otherwise undefined. */
  readonly listBytes?: number | undefined;
  /** By the key of the aggregate. */
  readonly answers: Readonly<Record<string, AggregateAnswer>>;
}

/** By the name of the relationship. */
export type Aggregates = Readonly<Record<string, RelationAggregates>>;

/** The distinct aggregates over a relationship in the formulas of a context. */
export const aggregatesOver = ({ derived }: Pick<ContextModel, 'derived'>, relation: string): RelationAggregate[] => {
  const all = [...derived.values()].flatMap(({ aggregates }) => aggregates);
  const own = all.filter((aggregate) => aggregate.relation === relation);
  return [...new Map(own.map((aggregate) => [aggregate.key, aggregate])).values()];
};

/**
 * Computes aggregates of one instance from its related instances, which arrive in pieces in the order of their ids (C45,
 * docs/adr/0020-aggregates-in-pieces.md).
 */
export class RelationFolds {
  private instances = 0;
  private readonly folds: ReadonlyMap<string, Fold>;

  /** `now`: epoch ms, the result of `now()`. */
  constructor(aggregates: readonly RelationAggregate[], now: number) {
    this.folds = new Map(aggregates.map(({ key, fold }) => [key, fold.begin(now)]));
  }

  /** Adds the next related instances, with all facts that any of the aggregates reads. */
  add(related: readonly Facts[]): void {
    this.instances += related.length;
    for (const fold of this.folds.values()) fold.add(related);
  }

  result(): RelationAggregates {
    const answers = [...this.folds].map(([key, fold]): [string, AggregateAnswer] => {
      const outcome = fold.outcome();
      if (outcome.ok) return [key, { value: outcome.value }];
      const { code, message } = outcome.problem;
      return [key, { error: { code, message } }];
    });
    return { instances: this.instances, answers: Object.fromEntries(answers) };
  }
}

/** Why formulas and assets cannot read a relationship as a list (C46); undefined if they can. */
export const faultOfList = (aggregates: Aggregates | undefined, relation: string): string | undefined => {
  if (aggregates === undefined || !Object.hasOwn(aggregates, relation)) return undefined;
  const bytes = aggregates[relation]?.listBytes;
  if (bytes === undefined) return undefined;
  const [taken, most] = [bytes, contextLimits.relatedBytes].map((count) => count.toLocaleString('en'));
  return `${relation} takes ${taken} bytes or more as a list, and at most ${most} are read: ask for aggregates such as sum or count, or for fewer facts of each instance`;
};

/** The value of an aggregate. Throws its fault, with the position of its call. */
export const valueOfAggregate = (answer: AggregateAnswer, { fold }: RelationAggregate): unknown => {
  if ('value' in answer) return answer.value;
  const { code, message } = answer.error;
  throw new FormulaFault(code as FormulaProblemCode, message, fold.call); // the code that a fold answered
};
