import { type ContextWaitingOn } from '@decision/contracts';
import { type ContextModel } from '../definitions/context-model';
import { type Aggregates } from '../derived/aggregates';
import { type RelatedInstances } from '../derived/derive-facts';
import { type Facts, hasValue } from '../facts/facts';
import { type AssetInput, type BoundAsset, firstPart, relationOfInput } from './bound-asset';

/**
 * Facts without a value that an asset cannot run without (C53): those that are required, output_only or derived, and for which the asset
 * has no default. If there are none it is ready, even if the instance is incomplete.
 */
export const factsAwaited = (model: ContextModel, asset: BoundAsset, state: Facts): readonly string[] => {
  const awaited = asset.inputs.filter((input) => isAwaited(model, input, state));
  return [...new Set(awaited.map(({ key }) => firstPart(key)))];
};

const isAwaited = (model: ContextModel, input: AssetInput, state: Facts): boolean => {
  if (input.hasDefault || relationOfInput(input) !== undefined) return false;
  const fact = firstPart(input.key);
  return isNeeded(model, fact) && !hasValue(state, fact);
};

const isNeeded = ({ facts, derived }: ContextModel, fact: string): boolean => {
  const declared = facts.get(fact);
  return derived.has(fact) || (declared !== undefined && (declared.required || declared.outputOnly));
};

export const isReady = (model: ContextModel, asset: BoundAsset, state: Facts): boolean =>
  !asset.inputs.some((input) => isAwaited(model, input, state));

/** The instance whose facts an asset waits for, and the facts that are known. */
interface WaitingInstance {
  readonly instanceId: string;
  readonly state: Facts;
  readonly related: RelatedInstances;
  readonly aggregates?: Aggregates | undefined;
  /** Slug of the context at the other end of a relationship. */
  readonly slugOfRelation: (name: string) => string;
}

/**
 * Facts and relations that an asset waits for (C54, C55): base facts of its own context, each with the derived facts that depend on it, and
 * relations without an instance.
 */
export const waitingOn = (model: ContextModel, asset: BoundAsset, instance: WaitingInstance): ContextWaitingOn[] => {
  const search = new MissingFacts(model, instance);
  for (const fact of factsAwaited(model, asset, instance.state)) search.add(fact);
  const { instanceId } = instance;
  const own = {
    context: model.definition.slug,
    instance: instanceId,
    fields: [...search.fields],
    ...(search.derived.size === 0 ? {} : { dependentDerivedFields: [...search.derived] }),
  };
  const relations = [...search.relations].map(([relation, fields]) => ({
    context: instance.slugOfRelation(relation),
    instance: '*',
    fields: [...fields],
    relation,
  }));
  return [...(own.fields.length === 0 ? [] : [own]), ...relations];
};

class MissingFacts {
  readonly fields = new Set<string>();
  readonly derived = new Set<string>();
  /** Relationships without an instance, each with the facts that are read of it. */
  readonly relations = new Map<string, ReadonlySet<string>>();

  constructor(
    private readonly model: ContextModel,
    private readonly instance: WaitingInstance,
  ) {}

  add(fact: string): void {
    if (!this.model.derived.has(fact)) this.fields.add(fact);
    else if (!this.addBehind(fact, new Set())) this.fields.add(fact);
  }

  /** Adds what a derived fact lacks; false if it lacks nothing that could be named. */
  private addBehind(fact: string, seen: Set<string>): boolean {
    const reads = this.model.derived.get(fact)?.reads;
    if (reads === undefined || seen.has(fact)) return false;
    seen.add(fact);
    let found = false;
    for (const read of reads.facts) {
      if (hasValue(this.instance.state, read)) continue;
      if (this.model.derived.has(read)) found = this.addBehind(read, seen) || found;
      else {
        this.fields.add(read);
        found = true;
      }
    }
    for (const relation of reads.relations) {
      if (hasInstances(this.instance, relation)) continue;
      this.relations.set(relation, reads.related);
      found = true;
    }
    if (found) this.derived.add(fact);
    return found;
  }
}

const hasInstances = ({ related, aggregates }: WaitingInstance, relation: string): boolean => {
  if (aggregates !== undefined && Object.hasOwn(aggregates, relation) && (aggregates[relation]?.instances ?? 0) > 0)
    return true;
  const found = Object.hasOwn(related, relation) ? (related[relation] ?? null) : null;
  return found !== null && (!Array.isArray(found) || found.length > 0);
};
