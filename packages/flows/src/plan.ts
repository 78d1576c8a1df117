import { type FieldPath } from '@decision/engine';
import { type AggregationOperator } from './node-kinds';
import { type CompiledRuleAsset, type FlowAsset } from './assets';
import { type Condition } from './conditions';

import { type EdgeType } from './wiring';

/** Where a value comes from, seen from the frame of the step that reads it. */
export interface Source {
  /** Loops to leave on the way. */
  readonly up: number;
  /** The step in that frame's scope that gives the value; of no meaning for an item. */
  readonly step: number;
  /** `value`: an output of the step; `request`: a field of the flow's input; the others belong to the item of that frame. */
  readonly from: 'value' | 'request' | 'item' | 'index' | 'member';
  readonly path: FieldPath;
  /** Type that the node declares for an item's member; checked when it is read. */
  readonly type: EdgeType;
}

export interface InputPlan {
  readonly key: string;
  readonly path: FieldPath;
  /** Type that a value must have; `any` where nothing is checked. */
  readonly type: EdgeType;
  /** In the order of the document. */
  readonly sources: readonly Source[];
}

/** A condition whose holding opens a gate. */
export interface GateSource {
  readonly up: number;
  readonly step: number;
}

interface StepBase {
  readonly ref: string;
  readonly inputs: readonly InputPlan[];
  readonly gates: readonly GateSource[];
  /** Steps of the same scope that come before it, directly. */
  readonly needs: readonly number[];
}

export interface ConditionOnInput {
  readonly key: string;
  readonly holds: Condition;
}

/** What an aggregate takes of each item; its sources are seen from the frame of the loop. */
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
        /** Where its outputs are kept for other runs: the node, with the versions of what it runs as its field `runs`. */
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
  /** Whether a step in it, or within it, answers later. */
  readonly reachesOut: boolean;
}

export interface ResultPlan {
  readonly ref: string;
  /** Where in the answer it stands; undefined where it is merged into the answer. */
  readonly key: FieldPath | undefined;
  /** Paths of the members by position of the input. */
  readonly members: readonly FieldPath[];
  readonly isInLoop: boolean;
  readonly exits: boolean;
  /** Answered instead of the inputs, when it exits. */
  readonly exitData: Readonly<Record<string, unknown>> | undefined;
}

/** A flow made ready, and safe to share. Made by `compileFlow`. */
export interface FlowPlan extends FlowAsset {
  readonly root: Scope;
  /** In the order of the document. */
  readonly results: readonly ResultPlan[];
  readonly subflows: readonly FlowPlan[];
}
