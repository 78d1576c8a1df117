import { type DefinitionValues, type DerivedType, type FactType, type RelationType } from '@decision/contracts';
import { type CompiledFormula, type FormulaProblem } from '@decision/expressions';
import { type IdentityFact } from '../facts/instance-id';
import { type FormulaReads } from './formula-reads';
import { type RelationAggregate } from './separate-aggregates';

/** A context as its author defined it, defaults filled in. */
export interface ContextDefinition extends DefinitionValues {
  readonly id: string;
  readonly slug: string;
}

/** A relationship of one context to another of the same workspace. */
export interface Relationship {
  readonly id: string;
  /** How formulas of the first context call it: `$name`. */
  readonly name: string;
  readonly type: RelationType;
  readonly fromContextId: string;
  readonly toContextId: string;
  /** For `belongs_to` a fact of the first context, else of the other one. */
  readonly foreignKeyFact: string;
}

/** All contexts of a workspace with their relationships: what one definition is checked against. */
export interface ContextWorld {
  /** By id. */
  readonly contexts: ReadonlyMap<string, ContextDefinition>;
  readonly relationships: readonly Relationship[];
}

/** The context whose instances hold the foreign key. */
export const holderOf = ({ type, fromContextId, toContextId }: Relationship): string =>
  type === 'belongs_to' ? fromContextId : toContextId;

/** A base fact, its settings filled in. */
export interface FactModel {
  readonly key: string;
  readonly type: FactType;
  readonly required: boolean;
  readonly outputOnly: boolean;
  readonly trackHistory: boolean;
  /** The collection whose members it may hold, where it is limited to one. */
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
  /** Aggregates over relationships, each once; `rest` is the formula with their names in their places, and what it reads beside them. */
  readonly aggregates: readonly RelationAggregate[];
  readonly rest: { readonly formula: CompiledFormula; readonly reads: FormulaReads };
}

/** A context made ready; it never changes. Made by `compileContext`. */
export interface ContextModel {
  readonly definition: ContextDefinition;
  readonly identity: IdentityFact;
  /** By name, in the order of the schema. */
  readonly facts: ReadonlyMap<string, FactModel>;
  /** By name, each after those that it reads. */
  readonly derived: ReadonlyMap<string, DerivedModel>;
  /** Names of derived facts in the order of the schema. */
  readonly derivedNames: readonly string[];
  /** Relationships of this context to others, by name. */
  readonly relations: ReadonlyMap<string, Relationship>;
}

/** Why a definition is refused. Codes are stable. */
export type ContextProblemCode =
  /** A name that no fact can have. */
  | 'invalid_name'
  /** Two facts, or two relationships, of one name. */
  | 'duplicate_name'
  /** The identity fact is no base fact. */
  | 'identity_unknown'
  /** The identity fact is of a type, or has a setting, that an identity cannot have. */
  | 'identity_unsuitable'
  /** The default is not of the type of its fact. */
  | 'default_mismatch'
  /** values_only without a collection, or for a type that has none. */
  | 'collection_unsuitable'
  /** An expression where none belongs, or none where one must be. */
  | 'expression_misplaced'
  /** A setting of submitted facts on a derived one. */
  | 'setting_misplaced'
  /** The formula does not parse, or names what does not exist. */
  | 'formula_invalid'
  /** history and previous need the name of a tracked fact, written as a string. */
  | 'history_untracked'
  /** Facts that depend on themselves. */
  | 'cycle'
  /** The other context of a relationship does not exist. */
  | 'context_unknown'
  /** The foreign key is no base fact of type string or number of the context that holds it. */
  | 'foreign_key_unsuitable';

/** One fault of a definition. */
export interface ContextProblem {
  readonly code: ContextProblemCode;
  /** JSON pointer into the definition, such as `/schema/derived/0/expression`, or `/relationships/<name>`. */
  readonly path: string;
  /** One sentence for the author. */
  readonly message: string;
  /** The place within a formula. */
  readonly formula?: FormulaProblem;
}

export const MAX_CONTEXT_PROBLEMS = 100;
