import { type DerivedType, type FactType } from '@decision/contracts';
import { type CompiledFormula } from '@decision/expressions';
import { type IdentityFact } from '../facts/instance-id';
import { type ContextDefinition, type Relationship } from './context-definition';
import { type FormulaReads } from './formula-reads';
import { type RelationAggregate } from './separate-aggregates';

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
