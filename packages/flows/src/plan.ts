import { type FieldPath } from '@decision/engine';
import { type AggregationOperator } from './node-kinds';
import { type CompiledRuleAsset, type FlowAsset } from './assets';
import { type Condition } from './conditions';

import { type EdgeType } from './wiring';

/** The source of a value, relative to the frame of the step that reads it. */
export interface Source {
  /** Number of loops to leave. */
  readonly up: number;
  /** The step in that frame's scope that gives the value; unused for an item. */
  readonly step: number;
  /** `value`: an output of the step; `request`: a field of the flow's input; the others belong to the item of that frame. */
  readonly from: 'value' | 'request' | 'item' | 'index' | 'member';
  readonly path: FieldPath;
  /** Declared type of an item's member; checked on reading. */
  readonly type: EdgeType;
}

export interface InputPlan {
  readonly key: string;
  readonly path: FieldPath;
  /** Required type of a value; `any`: nothing is checked. */
  readonly type: EdgeType;
  /** In the order of the document. */
  readonly sources: readonly Source[];
}

/** A condition that opens a gate when it holds. */
export interface GateSource {
  readonly up: number;
  readonly step: number;
}

interface StepBase {
  readonly ref: string;
  readonly inputs: readonly InputPlan[];
  readonly gates: readonly GateSource[];
  /** Steps of the same scope that it directly depends on. */
  readonly needs: readonly number[];
}

export interface ConditionOnInput {
  readonly key: string;
  readonly holds: Condition;
}

/** The values that an aggregate takes from each item; its sources are relative to the loop's frame. */
export interface Collector {
  readonly ref: string;
  readonly inputs: readonly InputPlan[];
  readonly gates: readonly GateSource[];
  readonly filters: readonly ConditionOnInput[];
}

export type Step = StepBase &
  (
    | { readonly kind: 'origin' | 'rule'; readonly rule: CompiledRuleAsset }
    | { readonly kind: 'condition'; readonly condition: ConditionOnInput }
    | { readonly kind: 'lookup'; readonly find: (value: unknown) => unknown }
    | { readonly kind: 'loop'; readonly body: Scope; readonly collectors: readonly Collector[] }
    | { readonly kind: 'aggregate'; readonly loop: number; readonly collector: number; readonly combine: CombinePlan }
    | { readonly kind: 'result'; readonly result: number }
    | {
        readonly kind: 'subflow';
        readonly flow: FlowPlan;
        readonly outputs: readonly OutputPlan[];
        /** Cache key of its outputs for other runs: the node, with the versions that it runs in its field `runs`. */
        readonly kept: OutsideNode | undefined;
      }
    | { readonly kind: 'outside'; readonly node: OutsideNode; readonly outputs: readonly OutputPlan[] }
  );

/** A declared output whose value is checked. */
export interface OutputPlan {
  readonly key: string;
  readonly path: FieldPath;
  readonly type: EdgeType;
}

export interface CombinePlan {
  readonly mode: 'fields' | 'items';
  /** By position of the input; for mode `fields`. */
  readonly operators: readonly AggregationOperator[];
}

/** A node that reaches out, as its port sees it. */
export interface OutsideNode {
  readonly ref: string;
  readonly type: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly onError: 'fail' | 'continue' | 'default';
  readonly defaultOutputs: Readonly<Record<string, unknown>>;
}

/** Steps that run together: those of the flow itself, or those of one item of a loop. */
export interface Scope {
  readonly steps: readonly Step[];
  /** Whether one of its steps, at any depth, answers later. */
  readonly reachesOut: boolean;
}

export interface ResultPlan {
  readonly ref: string;
  /** Its key in the answer; undefined if it is merged into the answer. */
  readonly key: FieldPath | undefined;
  /** Paths of the members by position of the input. */
  readonly members: readonly FieldPath[];
  readonly isInLoop: boolean;
  readonly exits: boolean;
  /** Answered instead of the inputs when it is an exit. */
  readonly exitData: Readonly<Record<string, unknown>> | undefined;
}

/** A compiled flow, safe to share. Made by `compileFlow`. */
export interface FlowPlan extends FlowAsset {
  readonly root: Scope;
  /** In the order of the document. */
  readonly results: readonly ResultPlan[];
  readonly subflows: readonly FlowPlan[];
}
