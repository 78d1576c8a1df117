import { quoted } from '../facts/facts';
import { type ContextModel } from './context-model';

/** Facts about a context's instances that decide whether its definition may change. */
export interface LivingContext {
  readonly hasInstances: boolean;
  /** Whether some instance holds an undeclared fact of this name. Asked only for added base facts. */
  readonly holdsUndeclared: (fact: string) => boolean;
  /** Slugs of bound assets that read or write the fact. Asked only for removed facts. */
  readonly assetsNaming: (fact: string) => readonly string[];
}

/** Why a change is refused; codes are stable. */
interface ChangeRefusal {
  readonly code: 'identity_changed' | 'type_changed' | 'fact_held' | 'fact_in_use';
  readonly fact: string;
  readonly message: string;
}

/**
 * Checks whether a compiled context may become another compiled context (C14 to C18). All refusals are answered; none means that the change
 * is allowed and leaves the instances as they are. `compileContext` has already checked the names in formulas and relationships.
 */
export const refusalsOfChange = (
  before: ContextModel,
  after: ContextModel,
  living: LivingContext,
): readonly ChangeRefusal[] => [
  ...(living.hasInstances ? [...identityRefusal(before, after), ...typeRefusals(before, after)] : []),
  ...additionRefusals(before, after, living),
  ...removalRefusals(before, after, living),
];

const identityRefusal = (before: ContextModel, after: ContextModel): ChangeRefusal[] => {
  const { key } = before.identity;
  if (key === after.identity.key) return [];
  const message = `The identity fact ${quoted(key)} cannot change while the context has instances, which it names.`;
  return [{ code: 'identity_changed', fact: key, message }];
};

/** The type of a base fact, `derived`, or undefined if there is no such fact. */
const kindIn = (model: ContextModel, fact: string): string | undefined =>
  model.derived.has(fact) ? 'derived' : model.facts.get(fact)?.type;

const namesOf = (model: ContextModel): string[] => [...model.facts.keys(), ...model.derivedNames];

const typeRefusals = (before: ContextModel, after: ContextModel): ChangeRefusal[] =>
  namesOf(before).flatMap((fact) => {
    const [was, will] = [kindIn(before, fact), kindIn(after, fact)];
    if (will === undefined || was === will) return [];
    const message = `The fact ${quoted(fact)} is ${was} and cannot become ${will} while the context has instances: add another fact instead.`;
    return [{ code: 'type_changed', fact, message }];
  });

const additionRefusals = (before: ContextModel, after: ContextModel, living: LivingContext): ChangeRefusal[] =>
  namesOf(after)
    .filter((fact) => kindIn(before, fact) === undefined && living.holdsUndeclared(fact))
    .map((fact) => {
      const message = `The fact ${quoted(fact)} cannot be declared: instances already hold values of that name which were never checked.`;
      return { code: 'fact_held', fact, message };
    });

const removalRefusals = (before: ContextModel, after: ContextModel, living: LivingContext): ChangeRefusal[] =>
  namesOf(before).flatMap((fact) => {
    const assets = kindIn(after, fact) === undefined ? living.assetsNaming(fact) : [];
    if (assets.length === 0) return [];
    const message = `The fact ${quoted(fact)} cannot be removed: ${assets.map(quoted).join(', ')} use it.`;
    return [{ code: 'fact_in_use', fact, message }];
  });
