import { type DefinitionValues, type DerivedType, type FactType, type RelationType } from '@decision/contracts';
import { type CompiledFormula, type FormulaProblem } from '@decision/expressions';
import { type IdentityFact } from '../facts/instance-id';
import { type FormulaReads } from './formula-reads';
import { type RelationAggregate } from './separate-aggregates';

/** A context as its author defined it, with defaults filled in. */
export interface ContextDefinition extends DefinitionValues {
  readonly id: string;
  readonly slug: string;
}

/** A relationship of one context to another of the same workspace. */
export interface Relationship {
  readonly id: string;
  /** Its name in formulas of the first context: `$name`. */
  readonly name: string;
  readonly type: RelationType;
  readonly fromContextId: string;
  readonly toContextId: string;
  /** For `belongs_to` a fact of the first context, otherwise of the other one. */
  readonly foreignKeyFact: string;
}

/** All contexts of a workspace with their relationships: one definition is checked against it. */
export interface ContextWorld {
  /** By id. */
  readonly contexts: ReadonlyMap<string, ContextDefinition>;
  readonly relationships: readonly Relationship[];
}

/** The context whose instances hold the foreign key. */
export const holderOf = ({ type, fromContextId, toContextId }: Relationship): string =>
  type === 'belongs_to' ? fromContextId : toContextId;

/** A base fact with its settings filled in. */
export interface FactModel {
  readonly key: string;
  readonly type: FactType;
  readonly required: boolean;
  readonly outputOnly: boolean;
  readonly trackHistory: boolean;
  /** The collection whose members it may hold, if it is limited to one. */
  readonly collection: string | undefined;
  /** Null: none. */
  readonly defaultValue: unknown;
}

export interface DerivedModel {
  readonly key: string;
  readonly type: DerivedType | undefined;
  /** Null: none. */
  readonly defaultValue: unknown;
  readonly formula: CompiledFormula;
  readonly reads: FormulaReads;
  /** Distinct aggregates over relationships. `rest` is the formula with their names substituted, and what it reads besides them. */
  readonly aggregates: readonly RelationAggregate[];
  readonly rest: { readonly formula: CompiledFormula; readonly reads: FormulaReads };
}

/** A compiled context; immutable. Made by `compileContext`. */
export interface ContextModel {
  readonly definition: ContextDefinition;
  readonly identity: IdentityFact;
  /** By name, in the order of the schema. */
  readonly facts: ReadonlyMap<string, FactModel>;
  /** Names of the facts that an instance needs to be complete. */
  readonly requiredFacts: readonly string[];
  /** Names of the facts whose changes are kept as history. */
  readonly trackedFacts: readonly string[];
  /** Facts that have a default. */
  readonly defaultedFacts: readonly FactModel[];
  /** Facts that are limited to the members of a collection. */
  readonly limitedFacts: readonly FactModel[];
  /** By name, in dependency order. */
  readonly derived: ReadonlyMap<string, DerivedModel>;
  /** Names of derived facts in the order of the schema. */
  readonly derivedNames: readonly string[];
  /** Relationships of this context to others, by name. */
  readonly relations: ReadonlyMap<string, Relationship>;
}

/** Why a definition is refused. Codes are stable. */
export type ContextProblemCode =
  /** An invalid name of a fact. */
  | 'invalid_name'
  /** Two facts, or two relationships, with one name. */
  | 'duplicate_name'
  /** The identity fact is not a base fact. */
  | 'identity_unknown'
  /** The identity fact is of a type, or has a setting, that an identity cannot have. */
  | 'identity_unsuitable'
  /** The default is not of the type of its fact. */
  | 'default_mismatch'
  /** values_only without a collection, or on a type without members. */
  | 'collection_unsuitable'
  /** An expression on a fact that takes none, or none on a fact that needs one. */
  | 'expression_misplaced'
  /** A setting of submitted facts on a derived one. */
  | 'setting_misplaced'
  /** The formula does not parse, or names something that does not exist. */
  | 'formula_invalid'
  /** history and previous need the name of a tracked fact, written as a string. */
  | 'history_untracked'
  /** Facts that depend on themselves. */
  | 'cycle'
  /** The other context of a relationship does not exist. */
  | 'context_unknown'
  /** The foreign key is not a base fact of type string or number in the context that holds it. */
  | 'foreign_key_unsuitable';

/** One fault of a definition. */
export interface ContextProblem {
  readonly code: ContextProblemCode;
  /** JSON pointer into the definition, such as `/schema/derived/0/expression`, or `/relationships/<name>`. */
  readonly path: string;
  /** One sentence for the author. */
  readonly message: string;
  /** The position within a formula. */
  readonly formula?: FormulaProblem;
}

export const MAX_CONTEXT_PROBLEMS = 100;
